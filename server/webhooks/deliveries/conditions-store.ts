import { type RawBuilder, sql } from 'kysely';
import { uuidArray } from '../../infrastructure/database/arrays.ts';
import type { Visible } from '../visible.ts';
import { guidsOfWindow } from './guid-window.ts';
import { type DeliveryState, FIRST_STATE, STATE_RULES, type StateRule } from './state.ts';

type Sql = RawBuilder<unknown>;

export type DeliveryFilters = {
  guid?: readonly string[] | undefined;
  state?: readonly DeliveryState[] | undefined;
  /** Whether there was an attempt. */
  attempted?: boolean | undefined;
  eventType?: readonly string[] | undefined;
  eventGuid?: readonly string[] | undefined;
  bankGuid?: readonly string[] | undefined;
  subscriptionGuid?: readonly string[] | undefined;
  environment?: readonly string[] | undefined;
  createdAtGte?: Date | undefined;
  createdAtLt?: Date | undefined;
  completedAtGte?: Date | undefined;
  completedAtLt?: Date | undefined;
};

export function matching(
  filters: DeliveryFilters,
  states: readonly DeliveryState[] | undefined,
  now: Date,
): RawBuilder<boolean> {
  const { from, to } = guidsOfWindow(filters.createdAtGte, filters.createdAtLt);
  const conditions = [sql`true`];
  if (filters.guid) conditions.push(sql`guid = any(${uuidArray(filters.guid)})`);
  if (filters.attempted !== undefined)
    conditions.push(filters.attempted ? sql`attempt_count > 0` : sql`attempt_count = 0`);
  if (filters.eventGuid) conditions.push(sql`event_guid = any(${uuidArray(filters.eventGuid)})`);
  if (filters.eventType) conditions.push(sql`event_type = any(${filters.eventType}::text[])`);
  if (filters.bankGuid) conditions.push(sql`bank_guid = any(${uuidArray(filters.bankGuid)})`);
  // The guid range prunes partitions; `created_at` is the exact filter.
  if (from) conditions.push(sql`guid >= ${from} and created_at >= ${filters.createdAtGte}`);
  if (to) conditions.push(sql`guid < ${to} and created_at < ${filters.createdAtLt}`);
  if (filters.subscriptionGuid)
    conditions.push(sql`subscription_guid = any(${uuidArray(filters.subscriptionGuid)})`);
  if (filters.environment) conditions.push(sql`environment = any(${filters.environment}::text[])`);
  if (filters.completedAtGte) conditions.push(sql`completed_at >= ${filters.completedAtGte}`);
  // A delivery is not completed before its creation.
  if (filters.completedAtLt)
    conditions.push(
      sql`completed_at < ${filters.completedAtLt} and guid < ${guidsOfWindow(undefined, filters.completedAtLt).to}`,
    );
  if (states) conditions.push(anyState(states, now));
  return sql`${sql.join(conditions, sql` and `)}`;
}

export function visibleTo({ organizationGuid, environment }: Visible): RawBuilder<boolean> {
  const own = sql<boolean>`organization_guid = ${organizationGuid}`;
  return environment === undefined ? own : sql<boolean>`${own} and environment = ${environment}`;
}

export function ofAny(subscriptionGuids: readonly string[]): RawBuilder<boolean> {
  return sql<boolean>`subscription_guid = any(${uuidArray(subscriptionGuids)})`;
}

export function isBefore(column: string, guid: string | undefined): Sql {
  return guid === undefined ? sql`true` : sql`${sql.ref(column)} < ${guid}`;
}

/** `stateOf` in SQL, written so that partial indexes match. */
function anyState(states: readonly DeliveryState[], now: Date): Sql {
  return sql`(${sql.join(
    states.map((state) => inState(state, now)),
    sql` or `,
  )})`;
}

function inState(state: DeliveryState, now: Date): Sql {
  const index =
    state === FIRST_STATE ? STATE_RULES.length : STATE_RULES.findIndex((rule) => rule.state === state);
  const conditions = STATE_RULES.slice(0, index).map((rule) => applies(rule, now, false));
  const own = STATE_RULES[index];
  return sql`(${sql.join(own ? [...conditions, applies(own, now, true)] : conditions, sql` and `)})`;
}

function applies({ moment, agoMs }: StateRule, now: Date, expected: boolean): Sql {
  const column = sql.ref(moment);
  if (agoMs === undefined) return expected ? sql`${column} is not null` : sql`${column} is null`;
  const latest = new Date(now.getTime() - agoMs);
  return expected ? sql`${column} <= ${latest}` : sql`(${column} is null or ${column} > ${latest})`;
}
