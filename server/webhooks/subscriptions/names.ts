import type { Database } from '../../infrastructure/database/database.ts';
import { selectNames } from './store.ts';

export function createNames({ database }: { database: Database }) {
  return {
    /** By guid, in one query; deleted subscriptions too. */
    async namesOf(organizationGuid: string, guids: readonly string[]): Promise<ReadonlyMap<string, string>> {
      if (guids.length === 0) return new Map();
      const found = await selectNames(database.lists, organizationGuid, guids);
      return new Map(found.map(({ guid, name }) => [guid, name]));
    },
  };
}
