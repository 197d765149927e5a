import { type Selectable, sql, type Updateable } from 'kysely';
import type { Queries, Transaction } from '../infrastructure/database/database.ts';
import { selectMergedPage } from '../infrastructure/database/paging/merged-paging.ts';
import { type Page, type PageOf, selectPage } from '../infrastructure/database/paging/paging.ts';
import type { EnvironmentName, Tables } from '../infrastructure/database/tables.ts';
import { firstGuidAt } from '../infrastructure/runtime/guid.ts';
import type { FileState } from './state.ts';

/** What partners read of files, and what uploads write. What is done with their content is in `queue-store.ts`. */

export type FileRow = Selectable<Tables['files']>;

/** What a token may see: its Organization's, narrowed to its environment and its bank. */
export type Visible = {
  organizationGuid: string;
  environment?: EnvironmentName | undefined;
  bankGuid?: string | undefined;
};

export type FileFilters = {
  guid?: readonly string[] | undefined;
  state?: readonly FileState[] | undefined;
  type?: readonly string[] | undefined;
  customerGuid?: readonly string[] | undefined;
  bankGuid?: readonly string[] | undefined;
  environment?: readonly string[] | undefined;
  createdAtGte?: Date | undefined;
  createdAtLt?: Date | undefined;
};

/** How far the time in a file's guid may be ahead of its `created_at`, when a process's clock was set back. */
const MAX_DISTANCE_MS = 5 * 60_000;

export async function insertFile(transaction: Transaction, file: FileRow): Promise<void> {
  await transaction.insertInto('files').values(file).execute();
}

export function selectFile(queries: Queries, visible: Visible, guid: string): Promise<FileRow | undefined> {
  return visibleTo(queries, visible).where('guid', '=', guid).executeTakeFirst();
}

export async function countCompleted(
  queries: Queries,
  visible: Visible,
  customerGuid: string,
  guids: readonly string[],
): Promise<number> {
  const found = await visibleTo(queries, visible)
    .where('guid', 'in', guids)
    .where('customer_guid', '=', customerGuid)
    .where('completed_at', 'is not', null)
    .execute();
  return found.length;
}

/** Of any tenant: for whoever has a link, which is signed for this file. */
export function selectLinkedFile(queries: Queries, guid: string): Promise<FileRow | undefined> {
  return queries.selectFrom('files').selectAll().where('guid', '=', guid).executeTakeFirst();
}

/**
 * Each index has its files in order for one customer, type or bank and in one state, not for several of them. So
 * several are several queries, each of which is read no further than the page reaches.
 */
export function selectFiles(
  queries: Queries,
  visible: Visible,
  page: Page,
  filters: FileFilters,
): Promise<PageOf<FileRow>> {
  const filtered = withFilters(visibleTo(queries, visible), filters);
  const parts = NARROWINGS.reduce(
    (queriesSoFar, narrow) => queriesSoFar.flatMap((query) => narrow(query, filters)),
    [filtered],
  );
  const [only, ...more] = parts;
  if (!only) return Promise.resolve({ rows: [], total: 0, next: undefined });
  return more.length === 0 ? selectPage(queries, only, page) : selectMergedPage(queries, parts, page);
}

type FilesQuery = ReturnType<typeof visibleTo>;

/** The narrowest first; the second only where that leaves few queries. */
const NARROWINGS: readonly ((query: FilesQuery, filters: FileFilters) => FilesQuery[])[] = [
  (query, { state }) => (state ? distinct(state).map((each) => query.where(inState(each))) : [query]),
  (query, { customerGuid, bankGuid, type }) => {
    if (customerGuid) return distinct(customerGuid).map((guid) => query.where('customer_guid', '=', guid));
    if (bankGuid) return distinct(bankGuid).map((guid) => query.where('bank_guid', '=', guid));
    return type ? distinct(type).map((name) => query.where('type', '=', name)) : [query];
  },
];

function withFilters(query: FilesQuery, filters: FileFilters): FilesQuery {
  let filtered = query;
  if (filters.guid) filtered = filtered.where('guid', 'in', filters.guid);
  if (filters.type) filtered = filtered.where('type', 'in', filters.type);
  if (filters.bankGuid) filtered = filtered.where('bank_guid', 'in', filters.bankGuid);
  if (filters.environment)
    filtered = filtered.where('environment', 'in', filters.environment as EnvironmentName[]);
  // The guid bounds what is read, `created_at` decides what is shown.
  if (filters.createdAtGte)
    filtered = filtered
      .where('guid', '>=', guidAt(filters.createdAtGte.getTime() - MAX_DISTANCE_MS))
      .where('created_at', '>=', filters.createdAtGte);
  if (filters.createdAtLt)
    filtered = filtered
      .where('guid', '<', guidAt(filters.createdAtLt.getTime() + MAX_DISTANCE_MS))
      .where('created_at', '<', filters.createdAtLt);
  return filtered;
}

function visibleTo(queries: Queries, { organizationGuid, environment, bankGuid }: Visible) {
  let query = queries.selectFrom('files').selectAll().where('organization_guid', '=', organizationGuid);
  if (environment) query = query.where('environment', '=', environment);
  if (bankGuid) query = query.where('bank_guid', '=', bankGuid);
  return query;
}

/** `stateOf` in SQL, in words that the partial indexes understand. */
function inState(state: FileState) {
  switch (state) {
    case 'completed':
      return sql<boolean>`completed_at is not null`;
    case 'failed':
      return sql<boolean>`failed_at is not null`;
    case 'storing':
      return sql<boolean>`completed_at is null and failed_at is null`;
  }
}

/** Undefined when its content is there already, or it has ended. */
export function updateAwaited(
  queries: Queries,
  guid: string,
  changes: Updateable<Tables['files']>,
): Promise<FileRow | undefined> {
  return queries
    .updateTable('files')
    .set(changes)
    .where('guid', '=', guid)
    .where('uploaded_at', 'is', null)
    .where('failed_at', 'is', null)
    .returningAll()
    .executeTakeFirst();
}

/** Undefined when its content is there, it has ended, or another upload of it is under way. */
export function leaseUpload(
  queries: Queries,
  guid: string,
  now: Date,
  changes: Updateable<Tables['files']>,
): Promise<FileRow | undefined> {
  return queries
    .updateTable('files')
    .set(changes)
    .where('guid', '=', guid)
    .where('uploaded_at', 'is', null)
    .where('failed_at', 'is', null)
    .where((where) =>
      where.or([where('upload_leased_until', 'is', null), where('upload_leased_until', '<=', now)]),
    )
    .returningAll()
    .executeTakeFirst();
}

/** False when the lease is another's by now. */
export async function renewUpload(
  queries: Queries,
  guid: string,
  leasedBy: string,
  until: Date,
): Promise<boolean> {
  const { numUpdatedRows } = await queries
    .updateTable('files')
    .set({ upload_leased_until: until })
    .where('guid', '=', guid)
    .where('upload_leased_by', '=', leasedBy)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Of an upload that did not arrive. A file that was given up meanwhile keeps its end. */
export async function releaseUpload(
  queries: Queries,
  guid: string,
  leasedBy: string,
  nextLookAt: Date,
): Promise<void> {
  await queries
    .updateTable('files')
    .set({ upload_leased_by: null, upload_leased_until: null, pending_bytes: null, next_look_at: nextLookAt })
    .where('guid', '=', guid)
    .where('upload_leased_by', '=', leasedBy)
    .where('uploaded_at', 'is', null)
    .where('failed_at', 'is', null)
    .execute();
}

function distinct<T>(values: readonly T[]): T[] {
  return [...new Set(values)];
}

/** No guid is older than the epoch, whatever a filter asks for. */
function guidAt(milliseconds: number): string {
  return firstGuidAt(new Date(Math.max(0, milliseconds)));
}
