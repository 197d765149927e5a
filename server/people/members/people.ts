import type { Actor, Audit } from '../../infrastructure/audit/service.ts';
import type { Database, Transaction } from '../../infrastructure/database/database.ts';
import type { Clock } from '../../infrastructure/runtime/clock.ts';
import type { Guids } from '../../infrastructure/runtime/guid.ts';
import * as store from './store.ts';

export type { Person } from './store.ts';
export type People = ReturnType<typeof createPeople>;

type Deps = { database: Database; clock: Clock; guids: Guids; audit: Audit };

/** The persons behind the members: an address and perhaps a name, the same in every Organization. */
export function createPeople({ database, clock, guids, audit }: Deps) {
  const { queries, authentication } = database;
  return {
    findByEmail: (email: string) => store.selectPersonByEmail(authentication.queries, normalEmail(email)),

    find: (guid: string) => store.selectPerson(authentication.queries, guid),

    /** The person of this address, made if nobody has asked for them before. */
    ensure(transaction: Transaction, email: string): Promise<store.Person> {
      const now = clock.now();
      const person = { guid: guids.next(), email: normalEmail(email), name: null };
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
      const change = { action: 'account.update', objectType: 'account', objectId: guid } as const;
      await audit.record(transaction, actor, { ...change, changes: { name } });
    },

    /** By guid; for showing who did something. Those who are gone from the team are still here. */
    async emailsOf(guidsToFind: readonly string[]): Promise<ReadonlyMap<string, string>> {
      if (guidsToFind.length === 0) return new Map();
      const people = await store.selectPeople(queries, [...new Set(guidsToFind)]);
      return new Map(people.map(({ guid, email }) => [guid, email]));
    },
  };
}

/** One spelling for one mailbox; nobody's provider tells two people apart by capital letters. */
export function normalEmail(email: string): string {
  return email.trim().toLowerCase();
}
