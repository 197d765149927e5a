import { sql, type Updateable } from 'kysely';
import { preparedUuids } from '../../infrastructure/database/arrays.ts';
import type { Queries, Transaction } from '../../infrastructure/database/database.ts';
import { type Page, type PageOf, selectPage } from '../../infrastructure/database/paging/paging.ts';
import type { EnvironmentName, Row, Tables } from '../../infrastructure/database/tables.ts';

export type Organization = Row<'organizations'>;
export type Bank = Row<'banks'>;
/** The owner, environment and name of a bank. */
export type BankSummary = Pick<Bank, 'guid' | 'organization_guid' | 'environment' | 'name'>;
export type BankFilters = {
  guid?: readonly string[] | undefined;
  /** The same as the environment. */
  type?: readonly string[] | undefined;
  environment?: readonly string[] | undefined;
  createdAtGte?: Date | undefined;
  createdAtLt?: Date | undefined;
  updatedAtGte?: Date | undefined;
  updatedAtLt?: Date | undefined;
};

/** Banks that a token can access. */
export type VisibleBanks = {
  organizationGuid: string;
  environment?: EnvironmentName | undefined;
  bankGuid?: string | undefined;
};

export async function insertOrganization(queries: Queries, organization: Organization): Promise<void> {
  await queries.insertInto('organizations').values(organization).execute();
}

export function updateOrganization(
  queries: Queries,
  guid: string,
  changes: Updateable<Tables['organizations']>,
): Promise<Organization> {
  return queries
    .updateTable('organizations')
    .set(changes)
    .where('guid', '=', guid)
    .returningAll()
    .executeTakeFirstOrThrow();
}

export function selectOrganization(queries: Queries, guid: string): Promise<Organization | undefined> {
  return organizationOf(queries, guid).executeTakeFirst();
}

/** The first that was not imported. */
export function selectFirstOwnOrganization(queries: Queries): Promise<Organization | undefined> {
  return queries
    .selectFrom('organizations')
    .selectAll()
    .where('grant_guid', 'is', null)
    .orderBy('guid')
    .limit(1)
    .executeTakeFirst();
}

/** FOR NO KEY UPDATE still allows inserts of rows that reference the Organization. */
export function selectOrganizationForUpdate(
  transaction: Transaction,
  guid: string,
): Promise<Organization | undefined> {
  return organizationOf(transaction, guid).forNoKeyUpdate().executeTakeFirst();
}

export function selectOrganizationForShare(
  transaction: Transaction,
  guid: string,
): Promise<Organization | undefined> {
  return organizationOf(transaction, guid).forShare().executeTakeFirst();
}

export async function selectOrganizationGuids(queries: Queries, guids: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ guid: string }>`
    /* prepared: organization_guids */
    select guid from organizations where guid = any(${preparedUuids(guids)})`.execute(queries);
  return rows.map(({ guid }) => guid);
}

/** Few: an Organization is frozen for seconds. */
export async function selectFrozenGuids(queries: Queries): Promise<string[]> {
  const rows = await queries
    .selectFrom('organizations')
    .select('guid')
    .where('frozen_at', 'is not', null)
    .execute();
  return rows.map(({ guid }) => guid);
}

export function selectOrganizationsByGuid(
  queries: Queries,
  guids: readonly string[],
): Promise<Organization[]> {
  return queries.selectFrom('organizations').selectAll().where('guid', 'in', guids).execute();
}

export function selectOrganizations(queries: Queries, page: Page): Promise<PageOf<Organization>> {
  return selectPage(queries, queries.selectFrom('organizations').selectAll(), page);
}

/** A list of one, with the paging of other lists. */
export function selectOwnOrganizations(
  queries: Queries,
  organizationGuid: string,
  page: Page,
): Promise<PageOf<Organization>> {
  return selectPage(queries, organizationOf(queries, organizationGuid), page);
}

export async function countSandboxBanks(transaction: Transaction, organizationGuid: string): Promise<number> {
  const { count } = await transaction
    .selectFrom('banks')
    .select((expression) => expression.fn.countAll<number>().as('count'))
    .where('organization_guid', '=', organizationGuid)
    .where('environment', '=', 'sandbox')
    .executeTakeFirstOrThrow();
  return count;
}

export async function insertBank(queries: Queries, bank: Bank): Promise<void> {
  await queries.insertInto('banks').values(bank).execute();
}

export function updateBank(
  queries: Queries,
  guid: string,
  changes: Updateable<Tables['banks']>,
): Promise<Bank> {
  return queries
    .updateTable('banks')
    .set(changes)
    .where('guid', '=', guid)
    .returningAll()
    .executeTakeFirstOrThrow();
}

export function selectBankForUpdate(transaction: Transaction, guid: string): Promise<Bank | undefined> {
  return bankOf(transaction, guid).forNoKeyUpdate().executeTakeFirst();
}

export function selectBank(queries: Queries, guid: string): Promise<Bank | undefined> {
  return bankOf(queries, guid).executeTakeFirst();
}

export async function hasBankIn(
  transaction: Transaction,
  organizationGuid: string,
  environment: EnvironmentName,
): Promise<boolean> {
  const found = await visibleTo(transaction, { organizationGuid, environment }).limit(1).executeTakeFirst();
  return found !== undefined;
}

export async function selectBanksByGuid(queries: Queries, guids: readonly string[]): Promise<BankSummary[]> {
  const { rows } = await sql<BankSummary>`
    /* prepared: banks_by_guid */
    select guid, organization_guid, environment, name from banks where guid = any(${preparedUuids(guids)})`.execute(
    queries,
  );
  return rows;
}

/** What never changes of a bank. */
export type BankOwner = Pick<Bank, 'guid' | 'organization_guid' | 'environment'>;

/** Fails the transaction unless all these banks exist: the removal of an Organization deletes them. */
export async function requireBanks(transaction: Transaction, guids: readonly string[]): Promise<void> {
  await sql`
    /* prepared: require_banks, pipelined */
    select require_unchanged(count(*) = ${guids.length}::int)
    from banks where guid = any(${preparedUuids(guids)})`.execute(transaction);
}

export function selectVisibleBank(
  queries: Queries,
  visible: VisibleBanks,
  guid: string,
): Promise<Bank | undefined> {
  return visibleTo(queries, visible).where('guid', '=', guid).executeTakeFirst();
}

export function selectBanks(
  queries: Queries,
  visible: VisibleBanks,
  page: Page,
  filters: BankFilters,
): Promise<PageOf<Bank>> {
  let query = visibleTo(queries, visible);
  if (filters.guid) query = query.where('guid', 'in', filters.guid);
  if (filters.type) query = query.where('environment', 'in', filters.type as EnvironmentName[]);
  if (filters.environment) query = query.where('environment', 'in', filters.environment as EnvironmentName[]);
  if (filters.createdAtGte) query = query.where('created_at', '>=', filters.createdAtGte);
  if (filters.createdAtLt) query = query.where('created_at', '<', filters.createdAtLt);
  if (filters.updatedAtGte) query = query.where('updated_at', '>=', filters.updatedAtGte);
  if (filters.updatedAtLt) query = query.where('updated_at', '<', filters.updatedAtLt);
  return selectPage(queries, query, page);
}

function visibleTo(queries: Queries, { organizationGuid, environment, bankGuid }: VisibleBanks) {
  let query = queries.selectFrom('banks').selectAll().where('organization_guid', '=', organizationGuid);
  if (environment) query = query.where('environment', '=', environment);
  if (bankGuid) query = query.where('guid', '=', bankGuid);
  return query;
}

function organizationOf(queries: Queries, guid: string) {
  return queries.selectFrom('organizations').selectAll().where('guid', '=', guid);
}

function bankOf(queries: Queries, guid: string) {
  return queries.selectFrom('banks').selectAll().where('guid', '=', guid);
}
