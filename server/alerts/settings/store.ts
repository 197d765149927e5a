import { sql, type Updateable } from 'kysely';
import { uuidArray } from '../../infrastructure/database/arrays.ts';
import type { Queries, Transaction } from '../../infrastructure/database/database.ts';
import type { Row, Tables } from '../../infrastructure/database/tables.ts';

export type AlertSettingsRow = Row<'alert_settings'>;

export function selectSettings(
  queries: Queries,
  organizationGuid: string,
): Promise<AlertSettingsRow | undefined> {
  return queries
    .selectFrom('alert_settings')
    .selectAll()
    .where('organization_guid', '=', organizationGuid)
    .executeTakeFirst();
}

/** Creates the row when it is missing, so that concurrent changes wait for each other. */
export async function lockSettings(
  transaction: Transaction,
  organizationGuid: string,
): Promise<AlertSettingsRow> {
  const { rows } = await sql<AlertSettingsRow>`
    insert into alert_settings (organization_guid) values (${organizationGuid})
    on conflict (organization_guid) do update set organization_guid = excluded.organization_guid
    returning *`.execute(transaction);
  return rows[0] as AlertSettingsRow;
}

export function updateSettings(
  queries: Queries,
  organizationGuid: string,
  changes: Updateable<Tables['alert_settings']>,
): Promise<AlertSettingsRow | undefined> {
  return queries
    .updateTable('alert_settings')
    .set(changes)
    .where('organization_guid', '=', organizationGuid)
    .returningAll()
    .executeTakeFirst();
}

/** Returns whether the Organization still has this Slack URL. */
export async function updateSlackOutcome(
  queries: Queries,
  organizationGuid: string,
  encryptedUrl: Buffer,
  changes: Pick<Updateable<Tables['alert_settings']>, 'slack_posted_at' | 'slack_failure'>,
): Promise<boolean> {
  const { numUpdatedRows } = await queries
    .updateTable('alert_settings')
    .set(changes)
    .where('organization_guid', '=', organizationGuid)
    .where('slack_url_encrypted', '=', encryptedUrl)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Of these, the Organizations that have a Slack URL. */
export async function selectOrganizationsWithSlack(
  queries: Queries,
  organizationGuids: readonly string[],
): Promise<string[]> {
  const rows = await queries
    .selectFrom('alert_settings')
    .select('organization_guid')
    .where('organization_guid', '=', sql<string>`any(${uuidArray(organizationGuids)})`)
    .where('slack_url_encrypted', 'is not', null)
    .execute();
  return rows.map(({ organization_guid: guid }) => guid);
}

export function selectSettingsWithThreshold(
  queries: Queries,
  after: string,
  limit: number,
): Promise<AlertSettingsRow[]> {
  return queries
    .selectFrom('alert_settings')
    .selectAll()
    .where('organization_guid', '>', after)
    .where(sql<boolean>`(waiting_threshold is not null or waiting_thresholds <> '{}')`)
    .orderBy('organization_guid')
    .limit(limit)
    .execute();
}

export async function selectSlackUrlsForUpdate(
  transaction: Transaction,
  after: string,
  limit: number,
): Promise<{ organization_guid: string; slack_url_encrypted: Buffer }[]> {
  const rows = await transaction
    .selectFrom('alert_settings')
    .select(['organization_guid', 'slack_url_encrypted'])
    .where('organization_guid', '>', after)
    .where('slack_url_encrypted', 'is not', null)
    .orderBy('organization_guid')
    .limit(limit)
    .forUpdate()
    .execute();
  return rows as { organization_guid: string; slack_url_encrypted: Buffer }[];
}
