import { type RawBuilder, sql } from 'kysely';
import { textArray, uuidArray } from '../../../infrastructure/database/arrays.ts';
import type { Queries } from '../../../infrastructure/database/database.ts';
import type { EnvironmentName } from '../../../infrastructure/database/tables.ts';
import { firstGuidAt, NIL_GUID } from '../../../infrastructure/runtime/guid.ts';
import type { Event } from '../store.ts';
import type { Horizon } from './position.ts';

type Sql = RawBuilder<unknown>;

/** An Organization in one environment. */
export type Tenant = { organizationGuid: string; environment: EnvironmentName };

export type StreamedEvent = Event & {
  /** Of the delivery in case of a resend, else of the event. */
  position: string;
  resent_at: Date | null;
  subscription_guid: string | null;
};

/** Events with older guids are in the index `events_with_old_guid` (migration 0070). */
const MAX_GUID_AGE_MS = 10_000;

/** The top-level transaction of a row: events are not inserted in subtransactions, which snapshots do not name. */
const transactionOf = (table: string) =>
  sql`full_transaction_id(${sql.ref(`${table}.xmin`)}, (select pg_snapshot_xmax(pg_current_snapshot())))`;

const isAfter = (table: string, { snapshot }: Pick<Horizon, 'snapshot'>) =>
  sql`not pg_visible_in_snapshot(${transactionOf(table)}, ${snapshot}::pg_snapshot)`;

const isWithin = (table: string, { snapshot }: Pick<Horizon, 'snapshot'>) =>
  sql`pg_visible_in_snapshot(${transactionOf(table)}, ${snapshot}::pg_snapshot)`;

const lowestGuid = ({ floorMs }: Horizon) => firstGuidAt(new Date(floorMs - MAX_GUID_AGE_MS));

/** Conditions of the rows that may be after a horizon: recent guids, old guids, and resends. */
function sourcesAfter(tenant: { organization: Sql; environment: Sql }, from: Horizon) {
  const { organization, environment } = tenant;
  const floor = new Date(from.floorMs);
  const owned = (table: string) =>
    sql`${sql.ref(`${table}.organization_guid`)} = ${organization} and ${sql.ref(`${table}.environment`)} = ${environment}`;
  return {
    recent: sql`${owned('e')} and e.guid >= ${lowestGuid(from)} and e.created_at >= ${floor} and ${isAfter('e', from)}`,
    old: sql`${owned('e')} and e.created_at >= ${floor} and event_guid_is_old(e.guid, e.created_at)
      and e.guid < ${lowestGuid(from)} and ${isAfter('e', from)}`,
    resent: sql`${owned('r')} and r.guid >= ${lowestGuid(from)} and r.created_at >= ${floor} and ${isAfter('r', from)}`,
  };
}

type Found = { snapshot: string; database: string; changed: number[] };

/** The present snapshot, and which of the tenants have events after the last one. One statement for all streams. */
export async function selectSnapshot(
  queries: Queries,
  tenants: readonly Tenant[],
  last: Horizon | undefined,
): Promise<Omit<Found, 'changed'> & { changed: readonly Tenant[] }> {
  const { recent, old, resent } = sourcesAfter(
    { organization: sql`t.organization_guid`, environment: sql`t.environment` },
    last ?? { snapshot: '1:1:', floorMs: 0, database: '' },
  );
  const isChanged = sql`coalesce(
    (select true from events as e where ${recent} order by e.guid desc limit 1),
    (select true from events as e where ${old} limit 1),
    (select true from event_resends as r where ${resent} order by r.guid desc limit 1))`;
  const { rows } = await sql<Found>`
    select pg_current_snapshot()::text as snapshot,
      (select left(md5(concat(system_identifier, left(pg_walfile_name(pg_current_wal_lsn()), 8))), 8)
       from pg_control_system()) as database,
      array(
        select t.number::int from unnest(${uuidArray(last ? tenants.map(({ organizationGuid }) => organizationGuid) : [])},
          ${textArray(last ? tenants.map(({ environment }) => environment) : [])})
          with ordinality as t(organization_guid, environment, number)
        where ${isChanged}) as changed`.execute(queries);
  const { snapshot, database, changed } = rows[0] as Found;
  return { snapshot, database, changed: changed.flatMap((number) => tenants[number - 1] ?? []) };
}

export type StreamPage = {
  organizationGuid: string;
  environments: readonly EnvironmentName[];
  from: Horizon;
  to: Horizon;
  after: string | undefined;
};

/** The next events between two horizons, in guid order. */
export async function selectStreamPage(
  queries: Queries,
  { organizationGuid, environments, from, to, after = NIL_GUID }: StreamPage,
  limit: number,
): Promise<StreamedEvent[]> {
  const { recent, old, resent } = sourcesAfter(
    { organization: sql`${organizationGuid}`, environment: sql`t.environment` },
    from,
  );
  const { rows } = await sql<StreamedEvent>`
    select found.* from unnest(${textArray(environments)}) as t(environment) cross join lateral (
      (select e.*, e.guid as position, null::timestamptz as resent_at, null::uuid as subscription_guid
       from events as e where ${recent} and e.guid > ${after} and ${isWithin('e', to)}
       order by e.guid limit ${limit})
      union all
      (select e.*, e.guid, null, null
       from events as e where ${old} and e.guid > ${after} and ${isWithin('e', to)}
       order by e.guid limit ${limit})
      union all
      (select e.*, r.guid, r.created_at, r.subscription_guid
       from event_resends as r join events as e on e.guid = r.event_guid
       where ${resent} and r.guid > ${after} and ${isWithin('r', to)}
       order by r.guid limit ${limit})
    ) as found
    order by found.position limit ${limit}`.execute(queries);
  return rows;
}
