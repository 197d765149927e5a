import { sql } from 'kysely';
import { intArray, momentArray, uuidArray } from '../../infrastructure/database/arrays.ts';
import type { Queries, Transaction } from '../../infrastructure/database/database.ts';
import type { Row } from '../../infrastructure/database/tables.ts';

export type AlertEndpoint = Row<'alert_endpoints'>;
type Failing = {
  organizationGuid: string;
  subscriptionGuid: string;
  failingSince: Date;
  failingMinutes: number;
};
type EndpointKey = { organizationGuid: string; subscriptionGuid: string };

const keysOf = (keys: readonly EndpointKey[]) => sql`unnest(
  ${uuidArray(keys.map(({ organizationGuid }) => organizationGuid))},
  ${uuidArray(keys.map(({ subscriptionGuid }) => subscriptionGuid))})
  as k(organization_guid, subscription_guid)`;

export async function selectAlertEndpoints(
  queries: Queries,
  keys: readonly EndpointKey[],
): Promise<AlertEndpoint[]> {
  const { rows } = await sql<AlertEndpoint>`
    select e.* from alert_endpoints as e join ${keysOf(keys)}
      on e.organization_guid = k.organization_guid and e.subscription_guid = k.subscription_guid`.execute(
    queries,
  );
  return rows;
}

/** Endpoints with an alert that they fail, in the order of their keys. */
export async function selectFailingEndpoints(
  queries: Queries,
  after: EndpointKey,
  limit: number,
): Promise<AlertEndpoint[]> {
  const { rows } = await sql<AlertEndpoint>`
    select * from alert_endpoints
    where (organization_guid, subscription_guid) > (${after.organizationGuid}, ${after.subscriptionGuid})
      and failing_since is not null
    order by organization_guid, subscription_guid limit ${limit}`.execute(queries);
  return rows;
}

export async function upsertFailing(transaction: Transaction, rows: readonly Failing[]): Promise<void> {
  await sql`
    insert into alert_endpoints (organization_guid, subscription_guid, failing_since, failing_minutes)
    select * from unnest(
      ${uuidArray(rows.map(({ organizationGuid }) => organizationGuid))},
      ${uuidArray(rows.map(({ subscriptionGuid }) => subscriptionGuid))},
      ${momentArray(rows.map(({ failingSince }) => failingSince))},
      ${intArray(rows.map(({ failingMinutes }) => failingMinutes))})
      as n(organization_guid, subscription_guid, failing_since, failing_minutes)
    order by organization_guid, subscription_guid
    on conflict (organization_guid, subscription_guid) do update
      set failing_since = excluded.failing_since, failing_minutes = excluded.failing_minutes`.execute(
    transaction,
  );
}

export async function clearFailing(transaction: Transaction, keys: readonly EndpointKey[]): Promise<void> {
  await sql`
    update alert_endpoints as e set failing_since = null, failing_minutes = null from ${keysOf(keys)}
    where e.organization_guid = k.organization_guid and e.subscription_guid = k.subscription_guid`.execute(
    transaction,
  );
  await deleteOver(transaction, keys);
}

/** `since` is null once few enough wait again. */
export async function setWaiting(
  transaction: Transaction,
  keys: readonly EndpointKey[],
  since: Date | null,
): Promise<void> {
  await sql`
    insert into alert_endpoints (organization_guid, subscription_guid, waiting_since)
    select organization_guid, subscription_guid, ${since}::timestamptz from ${keysOf(keys)}
    order by organization_guid, subscription_guid
    on conflict (organization_guid, subscription_guid) do update set waiting_since = excluded.waiting_since`.execute(
    transaction,
  );
  if (since === null) await deleteOver(transaction, keys);
}

async function deleteOver(transaction: Transaction, keys: readonly EndpointKey[]): Promise<void> {
  await sql`
    delete from alert_endpoints as e using ${keysOf(keys)}
    where e.organization_guid = k.organization_guid and e.subscription_guid = k.subscription_guid
      and e.failing_since is null and e.waiting_since is null`.execute(transaction);
}
