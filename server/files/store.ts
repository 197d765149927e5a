import { sql, type Updateable } from 'kysely';
import { textArray, uuidArray } from '../infrastructure/database/arrays.ts';
import type { Queries, Transaction } from '../infrastructure/database/database.ts';
import { selectMergedPage } from '../infrastructure/database/paging/merged-paging.ts';
import { type Page, type PageOf, selectPage } from '../infrastructure/database/paging/paging.ts';
import { distinct } from '../infrastructure/database/paging/value-paging.ts';
import type { EnvironmentName, Row, Tables } from '../infrastructure/database/tables.ts';
import { later } from '../infrastructure/runtime/clock.ts';
import { firstGuidAt } from '../infrastructure/runtime/guid.ts';
import type { FileState } from './state.ts';

export type FileRow = Row<'files'>;

/** The files a token may see: those of its Organization, environment and bank. */
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

/** The most that the time in a guid differs from `created_at`, for example after a clock was set back. */
const MAX_GUID_TIME_DIFFERENCE_MS = 5 * 60_000;

export async function insertFile(transaction: Transaction, file: FileRow): Promise<void> {
  await transaction.insertInto('files').values(file).execute();
}

export function selectFile(queries: Queries, visible: Visible, guid: string): Promise<FileRow | undefined> {
  return visibleTo(queries, visible).where('guid', '=', guid).executeTakeFirst();
}

/** Locks the row until the transaction ends, also against new references. */
export function lockFile(
  transaction: Transaction,
  visible: Visible,
  guid: string,
): Promise<FileRow | undefined> {
  return visibleTo(transaction, visible).where('guid', '=', guid).forUpdate().executeTakeFirst();
}

export async function deleteFile(
  transaction: Transaction,
  { organization_guid, guid }: FileRow,
): Promise<void> {
  await transaction
    .deleteFrom('files')
    .where('organization_guid', '=', organization_guid)
    .where('guid', '=', guid)
    .execute();
}

/** Locks the files until the transaction ends, against their deletion only. */
export function lockReferenced(
  transaction: Transaction,
  visible: Visible,
  guids: readonly string[],
): Promise<FileRow[]> {
  return visibleTo(transaction, visible).where('guid', 'in', guids).orderBy('guid').forKeyShare().execute();
}

/** Of any tenant: the caller holds a link that is signed for this file. */
export function selectLinkedFile(queries: Queries, guid: string): Promise<FileRow | undefined> {
  return queries.selectFrom('files').selectAll().where('guid', '=', guid).executeTakeFirst();
}

/**
 * Each index orders the files of one state and one customer, type or bank. A filter with several values becomes several
 * queries, merged and read no further than the page. Every query repeats the other filters, so their values are passed as
 * arrays: a statement has at most 65,535 parameters.
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

/** Filters that select an index, the narrowest first. */
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
  if (filters.guid) filtered = filtered.where(sql<boolean>`guid = any(${uuidArray(filters.guid)})`);
  if (filters.type) filtered = filtered.where(sql<boolean>`type = any(${textArray(filters.type)})`);
  if (filters.bankGuid)
    filtered = filtered.where(sql<boolean>`bank_guid = any(${uuidArray(filters.bankGuid)})`);
  if (filters.environment)
    filtered = filtered.where(sql<boolean>`environment = any(${textArray(filters.environment)})`);
  // The guid limits the rows that are read; `created_at` decides.
  if (filters.createdAtGte)
    filtered = filtered
      .where('guid', '>=', firstGuidAt(later(filters.createdAtGte, -MAX_GUID_TIME_DIFFERENCE_MS)))
      .where('created_at', '>=', filters.createdAtGte);
  if (filters.createdAtLt)
    filtered = filtered
      .where('guid', '<', firstGuidAt(later(filters.createdAtLt, MAX_GUID_TIME_DIFFERENCE_MS)))
      .where('created_at', '<', filters.createdAtLt);
  return filtered;
}

function visibleTo(queries: Queries, { organizationGuid, environment, bankGuid }: Visible) {
  let query = queries.selectFrom('files').selectAll().where('organization_guid', '=', organizationGuid);
  if (environment) query = query.where('environment', '=', environment);
  if (bankGuid) query = query.where('bank_guid', '=', bankGuid);
  return query;
}

/** `stateOf` in SQL, as the conditions of the partial indexes. */
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

export type FileChanges = Updateable<Tables['files']>;

type Conditions = {
  /** The file is neither uploaded nor failed. */
  awaitingUpload?: true;
  processingLeasedBy?: string;
  uploadLeasedBy?: string;
  /** No upload holds a lease at this time. */
  uploadUnleasedAt?: Date;
};

/** Undefined when the file does not meet all conditions, for example because a lease was lost. */
export function updateFileIf(
  queries: Queries,
  guid: string,
  { awaitingUpload, processingLeasedBy, uploadLeasedBy, uploadUnleasedAt }: Conditions,
  changes: FileChanges,
): Promise<FileRow | undefined> {
  let update = queries.updateTable('files').set(changes).where('guid', '=', guid);
  if (awaitingUpload) update = update.where('uploaded_at', 'is', null).where('failed_at', 'is', null);
  if (processingLeasedBy) update = update.where('leased_by', '=', processingLeasedBy);
  if (uploadLeasedBy) update = update.where('upload_leased_by', '=', uploadLeasedBy);
  if (uploadUnleasedAt)
    update = update.where(({ or, eb }) =>
      or([eb('upload_leased_until', 'is', null), eb('upload_leased_until', '<=', uploadUnleasedAt)]),
    );
  return update.returningAll().executeTakeFirst();
}
