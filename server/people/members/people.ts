import type { Actor } from '../../infrastructure/audit/service.ts';
import type { Base } from '../../infrastructure/base.ts';
import type { Transaction } from '../../infrastructure/database/database.ts';
import { accountChange } from '../account-change.ts';
import * as store from './store.ts';

export type { Person } from './store.ts';
export type People = ReturnType<typeof createPeople>;

/** People: email address and name, shared by their memberships in several Organizations. */
export function createPeople({ database, clock, guids, audit }: Base) {
  const { queries, authentication } = database;
  return {
    findByEmail: (email: string) => store.selectPersonByEmail(authentication.queries, normalizeEmail(email)),

    find: (guid: string) => store.selectPerson(authentication.queries, guid),

    /** Creates the person if the address is new. */
    ensure(transaction: Transaction, email: string): Promise<store.Person> {
      const now = clock.now();
      const person = { guid: guids.next(), email: normalizeEmail(email), name: null };
      return store.upsertPerson(transaction, { ...person, created_at: now, updated_at: now });
    },

    async rename(
      transaction: Transaction,
      actor: Actor,
      guid: string,
      name: string | undefined,
    ): Promise<void> {
      const current = await store.selectPerson(transaction, guid);
      if (name === undefined || current?.name === name) return;
      await store.updatePerson(transaction, guid, { name, updated_at: clock.now() });
      await audit.record(transaction, actor, {
        ...accountChange('account.update', guid, { name }),
        before: { name: current?.name ?? null },
      });
    },

    /** Includes people who are no longer on the team. */
    async emailsOf(guidsToFind: readonly string[]): Promise<ReadonlyMap<string, string>> {
      if (guidsToFind.length === 0) return new Map();
      const people = await store.selectPeople(queries, [...new Set(guidsToFind)]);
      return new Map(people.map(({ guid, email }) => [guid, email]));
    },
  };
}

export function normalizeEmail(email: string): string {
  return email.trim().toLowerCase();
}
