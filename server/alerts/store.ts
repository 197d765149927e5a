import { sql } from 'kysely';
import { textArray, uuidArray } from '../infrastructure/database/arrays.ts';
import type { Queries, Transaction } from '../infrastructure/database/database.ts';
import { notFrozen } from '../infrastructure/database/not-frozen.ts';
import { type Page, type PageOf, selectPage } from '../infrastructure/database/paging/paging.ts';
import type { EnvironmentName, Row } from '../infrastructure/database/tables.ts';

export type AlertRow = Omit<Row<'alerts'>, 'occurrence' | 'notified_at'>;
export type RaisedRow = Pick<
  Row<'alerts'>,
  'guid' | 'organization_guid' | 'environment' | 'type' | 'occurrence' | 'subscription_guid' | 'details'
>;

export type AlertFilters = {
  guid?: readonly string[] | undefined;
  type: readonly string[];
  environment?: readonly string[] | undefined;
  subscriptionGuid?: readonly string[] | undefined;
  createdAtGte?: Date | undefined;
  createdAtLt?: Date | undefined;
};

const COLUMNS = [
  'guid',
  'organization_guid',
  'environment',
  'type',
  'subscription_guid',
  'details',
  'created_at',
] as const satisfies (keyof AlertRow)[];

/**
 * Skips frozen Organizations, occurrences that are known, and alerts beyond `most` of an Organization and type since
 * `since`.
 */
export async function insertAlerts(
  transaction: Transaction,
  rows: readonly RaisedRow[],
  { now, since, most }: { now: Date; since: string; most: number },
): Promise<void> {
  await sql`
    insert into alerts (guid, organization_guid, environment, type, occurrence, subscription_guid, details, created_at)
    select n.guid, n.organization_guid, n.environment, n.type, n.occurrence, n.subscription_guid, n.details::jsonb, ${now}
    from unnest(
      ${uuidArray(rows.map((row) => row.guid))},
      ${uuidArray(rows.map((row) => row.organization_guid))},
      ${textArray(rows.map((row) => row.environment))},
      ${textArray(rows.map((row) => row.type))},
      ${textArray(rows.map((row) => row.occurrence))},
      ${uuidArray(rows.map((row) => row.subscription_guid))},
      ${textArray(rows.map((row) => JSON.stringify(row.details)))})
    as n(guid, organization_guid, environment, type, occurrence, subscription_guid, details)
    where ${notFrozen('n.organization_guid')} and (
      select count(*) from (
        select 1 from alerts as a
        where a.organization_guid = n.organization_guid and a.type = n.type and a.guid >= ${since}
        limit ${most}
      ) as recent
    ) < ${most}
    order by n.organization_guid, n.occurrence
    on conflict (organization_guid, occurrence) do nothing`.execute(transaction);
}

export function selectAlerts(
  queries: Queries,
  organizationGuid: string,
  page: Page,
  filters: AlertFilters,
): Promise<PageOf<AlertRow>> {
  let query = ownAlerts(queries, organizationGuid).where('type', 'in', [...filters.type, '']);
  if (filters.guid) query = query.where('guid', 'in', filters.guid);
  if (filters.environment)
    query = query.where(({ or, eb }) =>
      or([
        eb('environment', 'in', [...(filters.environment ?? [])] as EnvironmentName[]),
        eb('environment', 'is', null),
      ]),
    );
  if (filters.subscriptionGuid) query = query.where('subscription_guid', 'in', filters.subscriptionGuid);
  if (filters.createdAtGte) query = query.where('created_at', '>=', filters.createdAtGte);
  if (filters.createdAtLt) query = query.where('created_at', '<', filters.createdAtLt);
  return selectPage(queries, query, page);
}

export function selectAlertsByGuid(
  queries: Queries,
  organizationGuid: string,
  guids: readonly string[],
): Promise<AlertRow[]> {
  return ownAlerts(queries, organizationGuid)
    .where('guid', '=', sql<string>`any(${uuidArray(guids)})`)
    .orderBy('guid')
    .execute();
}

/** How many alerts among `types` are newer than `readThrough`, up to `most`. */
export async function countUnread(
  queries: Queries,
  organizationGuid: string,
  { types, readThrough, most }: { types: readonly string[]; readThrough: string; most: number },
): Promise<number> {
  const { rows } = await sql<{ unread: number }>`
    select count(*)::int as unread from (
      select 1 from alerts
      where organization_guid = ${organizationGuid} and guid > ${readThrough} and type = any(${textArray(types)})
      limit ${most}
    ) as counted`.execute(queries);
  return rows[0]?.unread ?? 0;
}

function ownAlerts(queries: Queries, organizationGuid: string) {
  return queries.selectFrom('alerts').select(COLUMNS).where('organization_guid', '=', organizationGuid);
}
