import type { Queries, Transaction } from '../database/database.ts';
import type { Page } from '../database/paging/paging.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Guids } from '../runtime/guid.ts';
import {
  type AuditFilters,
  type AuditRecord,
  insertRecords,
  selectActions,
  selectRecordedNames,
  selectRecords,
  selectRecordsAfter,
} from './store.ts';

/** The author of a change, recorded with it. */
export type Actor = {
  type: 'operator' | 'application' | 'user' | 'system' | 'anonymous';
  /** The client_id or the member's guid; a fixed value for the operator, the service itself and an unknown caller. */
  id: string;
  address?: string | undefined;
  requestId?: string | undefined;
  /** Subjects of revocations that end the token of the call. */
  revocableBy?: readonly string[];
};

export const systemActor: Actor = { type: 'system', id: 'portico' };

/** A caller that failed to authenticate. */
export const anonymousActor: Actor = { type: 'anonymous', id: 'anonymous' };

export type Change = {
  organizationGuid?: string | undefined;
  action: `${string}.${string}`;
  objectType: string;
  objectId: string;
  /** The new values, without secrets. */
  changes?: Record<string, unknown>;
  /** The values that an update replaced, without secrets. */
  before?: Record<string, unknown> | undefined;
};

export type { AuditFilters, AuditRecord };
export type Audit = ReturnType<typeof createAudit>;

export function createAudit({ queries, clock, guids }: { queries: Queries; clock: Clock; guids: Guids }) {
  /** Replaces prefixes by the actions that begin with them, which the indexes find. */
  async function expanded(filters: AuditFilters): Promise<AuditFilters> {
    const prefixes = filters.action?.filter(isPrefix);
    if (!prefixes?.length) return filters;
    const found = await selectActions(queries, filters.organizationGuid, prefixes);
    return { ...filters, action: [...(filters.action ?? []).filter((name) => !isPrefix(name)), ...found] };
  }

  return {
    /** Runs in the transaction of the change, so that neither commits without the other. */
    async record(transaction: Transaction, actor: Actor, change: Change): Promise<void> {
      await insertRecords(transaction, [
        {
          guid: guids.next(),
          organization_guid: change.organizationGuid ?? null,
          actor_type: actor.type,
          actor: actor.id,
          action: change.action,
          object_type: change.objectType,
          object_id: change.objectId,
          changes: JSON.stringify(change.changes ?? {}),
          before: change.before ? JSON.stringify(change.before) : null,
          address: actor.address ?? null,
          request_id: actor.requestId ?? null,
          created_at: clock.now(),
        },
      ]);
    },

    /** Keyset iteration without a total. */
    async walk(page: Page, filters: AuditFilters) {
      const rows = await selectRecordsAfter(queries, page, await expanded(filters));
      return { rows, next: rows.length === page.perPage ? rows.at(-1)?.guid : undefined };
    },

    list: async (page: Page, filters: AuditFilters) => selectRecords(queries, page, await expanded(filters)),

    /** The last recorded names of objects that no longer exist. */
    namesOf: async (organizationGuid: string, objectIds: readonly string[]) =>
      objectIds.length === 0 ? new Map() : selectRecordedNames(queries, organizationGuid, objectIds),
  };
}

function isPrefix(action: string): boolean {
  return action.endsWith('.');
}
