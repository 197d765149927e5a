import { sql } from 'kysely';
import { textArray } from '../../infrastructure/database/arrays.ts';
import type { Queries, Transaction } from '../../infrastructure/database/database.ts';
import type { Row, RowChanges } from '../../infrastructure/database/tables.ts';

export type Inbox = Row<'inboxes'>;
export type InboxRequest = Row<'inbox_requests'>;
/** Without headers and body, which may have 80 KB. */
export type InboxRequestSummary = Omit<InboxRequest, 'headers' | 'body'> & { body_bytes: number };

export function selectInboxes(queries: Queries, organizationGuid: string): Promise<Inbox[]> {
  return queries
    .selectFrom('inboxes')
    .selectAll()
    .where('organization_guid', '=', organizationGuid)
    .orderBy('guid')
    .execute();
}

export function selectInbox(
  queries: Queries,
  organizationGuid: string,
  guid: string,
): Promise<Inbox | undefined> {
  return inboxOf(queries, organizationGuid, guid).executeTakeFirst();
}

export function selectInboxForUpdate(
  transaction: Transaction,
  organizationGuid: string,
  guid: string,
): Promise<Inbox | undefined> {
  return inboxOf(transaction, organizationGuid, guid).forUpdate().executeTakeFirst();
}

export function selectInboxesByToken(queries: Queries, tokens: readonly string[]): Promise<Inbox[]> {
  return queries
    .selectFrom('inboxes')
    .selectAll()
    .where(sql<boolean>`token = any(${textArray(tokens)})`)
    .execute();
}

export async function insertInbox(transaction: Transaction, inbox: Inbox): Promise<void> {
  await transaction.insertInto('inboxes').values(inbox).execute();
}

export function updateInbox(
  transaction: Transaction,
  { organization_guid, guid }: Inbox,
  changes: RowChanges<'inboxes'>,
): Promise<Inbox> {
  return transaction
    .updateTable('inboxes')
    .set(changes)
    .where('organization_guid', '=', organization_guid)
    .where('guid', '=', guid)
    .returningAll()
    .executeTakeFirstOrThrow();
}

export async function deleteInbox(transaction: Transaction, inbox: Inbox): Promise<void> {
  await transaction
    .deleteFrom('inboxes')
    .where('organization_guid', '=', inbox.organization_guid)
    .where('guid', '=', inbox.guid)
    .execute();
}

/** Also deletes requests beyond the newest `keep`. */
export async function insertRequest(
  transaction: Transaction,
  { headers, ...request }: InboxRequest,
  keep: number,
): Promise<void> {
  await transaction
    .insertInto('inbox_requests')
    .values({ ...request, headers: JSON.stringify(headers) })
    .execute();
  await sql`
    delete from inbox_requests where guid in (
      select guid from inbox_requests where inbox_guid = ${request.inbox_guid}
      order by guid desc offset ${keep}
    )`.execute(transaction);
}

/** Newest first. */
export function selectRequests(
  queries: Queries,
  { guid }: Inbox,
  since: string,
): Promise<InboxRequestSummary[]> {
  return queries
    .selectFrom('inbox_requests')
    .select(['guid', 'inbox_guid', 'signature', 'subscription_guid', 'event_guid', 'event_type', 'address'])
    .select(['answer', 'received_at', sql<number>`octet_length(body)`.as('body_bytes')])
    .where('inbox_guid', '=', guid)
    .where('guid', '>=', since)
    .orderBy('guid', 'desc')
    .execute();
}

export function selectRequest(
  queries: Queries,
  organizationGuid: string,
  guid: string,
): Promise<InboxRequest | undefined> {
  return queries
    .selectFrom('inboxes')
    .innerJoin('inbox_requests', 'inbox_requests.inbox_guid', 'inboxes.guid')
    .selectAll('inbox_requests')
    .where('inboxes.organization_guid', '=', organizationGuid)
    .where('inbox_requests.guid', '=', guid)
    .executeTakeFirst();
}

export async function deleteRequestsBefore(queries: Queries, guid: string): Promise<void> {
  await queries.deleteFrom('inbox_requests').where('guid', '<', guid).execute();
}

function inboxOf(queries: Queries, organizationGuid: string, guid: string) {
  return queries
    .selectFrom('inboxes')
    .selectAll()
    .where('organization_guid', '=', organizationGuid)
    .where('guid', '=', guid);
}
