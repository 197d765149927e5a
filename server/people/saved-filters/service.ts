import type { Static } from 'typebox';
import type { Organizations } from '../../credentials/organizations/service.ts';
import type { Database } from '../../infrastructure/database/database.ts';
import type { Clock } from '../../infrastructure/runtime/clock.ts';
import { Failure } from '../../infrastructure/runtime/failure.ts';
import type { Guids } from '../../infrastructure/runtime/guid.ts';
import type { Members } from '../members/service.ts';
import type { NewSavedFilter } from './schema.ts';
import * as store from './store.ts';

export type SavedFilters = ReturnType<typeof createSavedFilters>;

const MAX_PER_LIST = 20;
/** Of a member in one Organization. */
const MAX_SAVED = 200;

type Deps = {
  database: Database;
  clock: Clock;
  guids: Guids;
  members: Members;
  organizations: Organizations;
};

/** Filters of dashboard lists that a member saved under a name. Their own matter: nothing is audited. */
export function createSavedFilters({ database, clock, guids, members, organizations }: Deps) {
  return {
    list: (owner: { memberGuid: string; organizationGuid?: string | undefined }) =>
      store.selectSavedFilters(database.queries, owner, MAX_SAVED),

    /** Replaces filters of the same name. */
    save(
      memberGuid: string,
      { organization_guid: organizationGuid, list, name, filters }: Static<typeof NewSavedFilter>,
    ): Promise<store.SavedFilter | Failure> {
      return database.transaction(async (transaction) => {
        const owner = { organizationGuid, memberGuid };
        const refused = await members.lockOwn(transaction, owner);
        if (refused) return refused;
        const saved = await store.selectSavedNames(transaction, owner);
        const ofList = saved.filter((each) => each.list === list);
        const isNew = !ofList.some((each) => each.name === name);
        if (isNew && (ofList.length >= MAX_PER_LIST || saved.length >= MAX_SAVED))
          return new Failure(
            'saved_filter_limit_reached',
            `Limit of saved filters reached (${MAX_PER_LIST} for a list, ${MAX_SAVED} in all); delete one first`,
          );
        return store.upsertSavedFilter(transaction, {
          guid: guids.next(),
          organization_guid: organizationGuid,
          member_guid: memberGuid,
          ...{ list, name, filters, created_at: clock.now() },
        });
      });
    },

    async remove(memberGuid: string, guid: string): Promise<Failure | undefined> {
      return database.transaction(async (transaction) => {
        const deleted = await store.deleteSavedFilter(transaction, memberGuid, guid);
        if (!deleted) return new Failure('not_found', 'There is no such saved filter');
        return organizations.checkFrozen(deleted.organization_guid, transaction);
      });
    },
  };
}
