import { type RawBuilder, sql } from 'kysely';
import { intArray, smallintArray, textArray, uuidArray } from '../infrastructure/database/arrays.ts';
import type { Queries } from '../infrastructure/database/database.ts';
import type { Page, PageOf } from '../infrastructure/database/paging/paging.ts';
import {
  distinct,
  type Narrowed,
  type Narrowing,
  selectPageOfEach,
} from '../infrastructure/database/paging/value-paging.ts';
import type { Row } from '../infrastructure/database/tables.ts';
import { firstGuidAt } from '../infrastructure/runtime/guid.ts';

type Sql = RawBuilder<unknown>;
export type LoggedRequest = Row<'request_log'>;

/** The calls that a caller may see. */
export type VisibleRequests = {
  organizationGuid: string;
  environments: readonly LoggedRequest['environment'][];
  bankGuid: readonly string[] | undefined;
};
export type RequestFilters = {
  requestId?: readonly string[] | undefined;
  method?: readonly string[] | undefined;
  path?: readonly string[] | undefined;
  /** Exact statuses; a class of statuses is a range of them. */
  status?: readonly number[] | undefined;
  messageCode?: readonly string[] | undefined;
  clientId?: readonly string[] | undefined;
  address?: readonly string[] | undefined;
  createdAtGte?: Date | undefined;
  createdAtLt?: Date | undefined;
};

/** Idempotent: a batch is written again when the answer to its commit was lost. */
export async function insertRequests(queries: Queries, rows: readonly LoggedRequest[]): Promise<void> {
  const texts = (name: 'environment' | 'token_type' | 'method' | 'path' | 'message_code' | 'address') =>
    textArray(rows.map((row) => row[name]));
  const guids = (
    name: 'guid' | 'organization_guid' | 'bank_guid' | 'client_id' | 'member_guid' | 'object_guid',
  ) => uuidArray(rows.map((row) => row[name]));
  await sql`
    /* prepared: insert_requests */
    insert into request_log (guid, organization_guid, environment, bank_guid, token_type, client_id, member_guid,
      method, path, object_guid, status, message_code, duration_ms, address, sample_rate)
    select * from unnest(${guids('guid')}, ${guids('organization_guid')}, ${texts('environment')},
      ${guids('bank_guid')}, ${texts('token_type')}, ${guids('client_id')}, ${guids('member_guid')},
      ${texts('method')}, ${texts('path')}, ${guids('object_guid')},
      ${smallintArray(rows.map(({ status }) => status))}, ${texts('message_code')},
      ${intArray(rows.map(({ duration_ms: ms }) => ms))}, ${texts('address')},
      ${smallintArray(rows.map(({ sample_rate: rate }) => rate))})
    on conflict (guid) do nothing`.execute(queries);
}

export function selectRequests(
  queries: Queries,
  visible: VisibleRequests,
  page: Page,
  filters: RequestFilters,
): Promise<PageOf<LoggedRequest>> {
  return selectPageOfEach(queries, [sourceOf(visible, filters)], page);
}

export function selectRequest(
  queries: Queries,
  organizationGuid: string,
  guid: string,
): Promise<LoggedRequest | undefined> {
  return queries
    .selectFrom('request_log')
    .selectAll()
    .where('organization_guid', '=', organizationGuid)
    .where('guid', '=', guid)
    .executeTakeFirst();
}

/** Chooses the index of the filter that leaves the fewest rows, as far as that is known. */
function sourceOf(visible: VisibleRequests, filters: RequestFilters): Narrowed {
  const { requestId, messageCode, clientId, address, path, status, method } = filters;
  const where = conditionsOf(visible, filters);
  const window = guidsBetween(filters);
  const source = { table: 'request_log', where, ...(window && { window }) };
  if (requestId) return { ...source, each: [] };
  const owned: Narrowing[] = [
    { column: sql`organization_guid`, values: uuidArray([visible.organizationGuid]) },
    { column: sql`environment`, values: textArray(distinct(visible.environments)) },
  ];
  // A partial index is used only if the query repeats its condition.
  const by = (column: string, values: Sql, condition?: Sql): Narrowed => ({
    ...source,
    where: condition ? [...where, condition] : where,
    each: [...owned, { column: sql.ref(column), values }],
  });
  if (messageCode) return by('message_code', textArray(distinct(messageCode)), sql`message_code is not null`);
  if (clientId) return by('client_id', uuidArray(distinct(clientId)), sql`client_id is not null`);
  if (address) return by('address', textArray(distinct(address)), sql`address is not null`);
  if (status && !status.includes(200))
    return by('status', smallintArray(distinct(status)), sql`status <> 200`);
  if (path) return by('path', textArray(distinct(path)));
  if (method && !method.includes('GET'))
    return by('method', textArray(distinct(method)), sql`method <> 'GET'`);
  if (visible.bankGuid)
    return by('bank_guid', uuidArray(distinct(visible.bankGuid)), sql`bank_guid is not null`);
  return { ...source, each: owned };
}

function conditionsOf(
  { organizationGuid, environments, bankGuid }: VisibleRequests,
  filters: RequestFilters,
) {
  const { requestId, messageCode, clientId, address, path, status, method } = filters;
  const where: Sql[] = [sql`organization_guid = ${organizationGuid}`];
  if (requestId) {
    where.push(sql`guid = any(${uuidArray(requestId)})`, sql`environment = any(${textArray(environments)})`);
    const times = guidsBetween(filters);
    if (times) where.push(sql`guid >= ${times[0]} and guid < ${times[1]}`);
  }
  if (bankGuid) where.push(sql`bank_guid = any(${uuidArray(bankGuid)})`);
  if (messageCode) where.push(sql`message_code = any(${textArray(messageCode)})`);
  if (clientId) where.push(sql`client_id = any(${uuidArray(clientId)})`);
  if (address) where.push(sql`address = any(${textArray(address)})`);
  if (path) where.push(sql`path = any(${textArray(path)})`);
  if (status) where.push(sql`status = any(${smallintArray(status)})`);
  if (method) where.push(sql`method = any(${textArray(method)})`);
  return where;
}

/** The time of a call is in its guid. */
function guidsBetween({ createdAtGte: from, createdAtLt: until }: RequestFilters) {
  if (!from && !until) return undefined;
  return [firstGuidAt(from ?? new Date(0)), firstGuidAt(until ?? new Date(8.64e15))] as const;
}
