import type { Actor } from '../../infrastructure/audit/service.ts';
import type { Base } from '../../infrastructure/base.ts';
import { Failure, isFailure } from '../../infrastructure/runtime/failure.ts';
import type { Revocations } from '../../tokens/revoking/revocations.ts';
import { scheduleDeletions } from './content-store.ts';
import { notFound } from './freeze-steps.ts';
import { lockOrganization, selectMembershipGrants, updateOrganization } from './freeze-store.ts';
import { deleteFormerMembers, selectMemberGuids } from './people-store.ts';
import { deleteRows, markAsTransfer } from './rows-store.ts';
import { DERIVED, TRANSFERRED, type TransferredTable } from './tables-store.ts';

export type Removed = { removed: boolean; deleted_rows: number };

type Deps = Base & { revocations: Revocations };

/** Rows of one statement. */
const BATCH_ROWS = 5_000;
/** Within the time that `portico operator` waits for an answer. */
const STOP_AFTER_MS = 30_000;

/** Deleted together at the end, so that people are either members or gone. */
const LAST: ReadonlySet<string> = new Set(['organizations', 'banks', 'applications', 'memberships']);
/** With the person, unless they are a member of another Organization. */
const OF_PEOPLE: ReadonlySet<string> = new Set(['members', 'logins', 'passkeys', 'login_networks']);

/** In the order of deletion. */
export const REMOVED: readonly TransferredTable[] = [...DERIVED, ...TRANSFERRED.toReversed()].filter(
  ({ name, isKept }) => !isKept && !OF_PEOPLE.has(name),
);

/** Removes an Organization that was imported elsewhere. A call that does not finish is repeated. */
export function createRemoval({ database, clock, audit, log, revocations }: Deps) {
  // Files refer to the customers that a trigger writes.
  const first = REMOVED.filter(({ name }) => !LAST.has(name) && name !== 'customers');
  const customers = DERIVED.filter(({ name }) => name === 'customers');
  const beforeLast = [...first, ...customers];
  const last = REMOVED.filter(({ name }) => LAST.has(name));

  /** Ends the tokens: without the Organization nothing would refuse them. */
  async function begin(actor: Actor, guid: string): Promise<Failure | undefined> {
    let revision: number | undefined;
    const refused = await database.transaction(async (transaction) => {
      const organization = await lockOrganization(transaction, guid);
      if (!organization) return notFound();
      if (organization.frozen_at === null)
        return new Failure('state_conflict', 'Only a frozen Organization can be removed; export it first');
      if (organization.removing_at !== null) return undefined;
      await updateOrganization(transaction, guid, { removing_at: clock.now() });
      await scheduleDeletions(transaction, guid, clock.now());
      const grants = await selectMembershipGrants(transaction, guid);
      revision = await revocations.revoke(transaction, 'token', organization.grant_guid ?? guid, ...grants);
      await audit.record(transaction, actor, {
        action: 'organization.remove',
        ...{ organizationGuid: guid, objectType: 'organization', objectId: guid },
      });
      return undefined;
    });
    if (!refused) await revocations.propagate(revision);
    return refused;
  }

  /** Stops at `until`. */
  async function deleteBeforeLast(guid: string, until: number): Promise<number> {
    return database.maintain((maintenance) =>
      maintenance.transaction().execute(async (reading) => {
        await markAsTransfer(reading);
        const connections = { reading, deleting: database.queries };
        let total = 0;
        for (const table of beforeLast)
          for await (const deleted of deleteRows(connections, table, guid, BATCH_ROWS)) {
            total += deleted;
            if (clock.now().getTime() >= until) return total;
          }
        return total;
      }),
    );
  }

  /** Tells the nodes, or they would refuse the Organization as frozen after it has moved back. */
  async function finish(guid: string): Promise<number> {
    const { total, revision } = await database.transaction(async (transaction) => {
      const people = await selectMemberGuids(transaction, guid);
      const connections = { reading: transaction, deleting: transaction };
      let total = 0;
      for (const table of last)
        for await (const deleted of deleteRows(connections, table, guid, BATCH_ROWS)) total += deleted;
      await deleteFormerMembers(transaction, people);
      return { total, revision: await revocations.revoke(transaction, 'freeze', guid) };
    });
    await revocations.propagate(revision);
    return total;
  }

  return {
    async remove(actor: Actor, guid: string): Promise<Removed | Failure> {
      const refused = await begin(actor, guid);
      if (isFailure(refused)) return refused;
      const until = clock.now().getTime() + STOP_AFTER_MS;
      let deleted = await deleteBeforeLast(guid, until);
      if (clock.now().getTime() >= until) return { removed: false, deleted_rows: deleted };
      deleted += await finish(guid);
      log.info({ organization_guid: guid, rows: deleted }, 'removed an Organization');
      return { removed: true, deleted_rows: deleted };
    },
  };
}
