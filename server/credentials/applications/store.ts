import { sql, type Updateable } from 'kysely';
import type { Queries, Transaction } from '../../infrastructure/database/database.ts';
import { type Page, type PageOf, selectPage } from '../../infrastructure/database/paging/paging.ts';
import type { EnvironmentName, Row, Tables } from '../../infrastructure/database/tables.ts';
import type { SecretHash } from './client-secret.ts';

export type Application = Row<'applications'>;

/** Owner of key pairs: the Organization itself or its banks, optionally of one environment or one bank. */
export type Owner = {
  organizationGuid: string;
  kind: 'organization' | 'bank';
  bankGuid?: string | undefined;
  environment?: EnvironmentName | undefined;
};

export type ApplicationFilters = {
  bankGuid?: readonly string[] | undefined;
  createdAtGte?: Date | undefined;
  createdAtLt?: Date | undefined;
  updatedAtGte?: Date | undefined;
  updatedAtLt?: Date | undefined;
};

/** A key pair with the environment of its bank, null for Organization keys, and the grant of its Organization. */
export type Client = Application & { environment: EnvironmentName | null; grant_guid: string | null };

export async function insertApplication(transaction: Transaction, application: Application): Promise<void> {
  await transaction.insertInto('applications').values(application).execute();
}

export function selectApplications(
  queries: Queries,
  owner: Owner,
  page: Page,
  filters: ApplicationFilters,
): Promise<PageOf<Application>> {
  let query = ownedBy(queries, owner);
  if (filters.bankGuid) query = query.where('applications.bank_guid', 'in', filters.bankGuid);
  if (filters.createdAtGte) query = query.where('applications.created_at', '>=', filters.createdAtGte);
  if (filters.createdAtLt) query = query.where('applications.created_at', '<', filters.createdAtLt);
  if (filters.updatedAtGte) query = query.where('applications.updated_at', '>=', filters.updatedAtGte);
  if (filters.updatedAtLt) query = query.where('applications.updated_at', '<', filters.updatedAtLt);
  return selectPage(queries, query, page, 'client_id');
}

export function selectApplication(
  queries: Queries,
  owner: Owner,
  clientId: string,
): Promise<Application | undefined> {
  return ownedBy(queries, owner).where('applications.client_id', '=', clientId).executeTakeFirst();
}

export function selectNames(
  queries: Queries,
  organizationGuid: string,
  clientIds: readonly string[],
): Promise<Pick<Application, 'client_id' | 'name'>[]> {
  return queries
    .selectFrom('applications')
    .select(['client_id', 'name'])
    .where('organization_guid', '=', organizationGuid)
    .where('client_id', 'in', clientIds)
    .execute();
}

export function selectApplicationForUpdate(
  transaction: Transaction,
  owner: Owner,
  clientId: string,
): Promise<Application | undefined> {
  const owned = ownedBy(transaction, owner).where('applications.client_id', '=', clientId);
  return owned.forUpdate().executeTakeFirst();
}

export function selectAnyForUpdate(
  transaction: Transaction,
  clientId: string,
): Promise<Application | undefined> {
  return transaction
    .selectFrom('applications')
    .selectAll()
    .where('client_id', '=', clientId)
    .forUpdate()
    .executeTakeFirst();
}

export async function countApplications(transaction: Transaction, organizationGuid: string): Promise<number> {
  const { count } = await transaction
    .selectFrom('applications')
    .select((expression) => expression.fn.countAll<number>().as('count'))
    .where('organization_guid', '=', organizationGuid)
    .executeTakeFirstOrThrow();
  return count;
}

export async function selectBankEnvironment(
  transaction: Transaction,
  bankGuid: string,
): Promise<EnvironmentName | undefined> {
  const bank = transaction.selectFrom('banks').select('environment').where('guid', '=', bankGuid);
  return (await bank.executeTakeFirst())?.environment;
}

export function updateApplication(
  transaction: Transaction,
  clientId: string,
  changes: Updateable<Tables['applications']>,
): Promise<Application> {
  return transaction
    .updateTable('applications')
    .set(changes)
    .where('client_id', '=', clientId)
    .returningAll()
    .executeTakeFirstOrThrow();
}

export async function deleteApplication(transaction: Transaction, clientId: string): Promise<void> {
  await transaction.deleteFrom('applications').where('client_id', '=', clientId).execute();
}

/** The key pair that replaces another one. */
export async function selectReplacement(
  queries: Queries,
  organizationGuid: string,
  clientId: string,
): Promise<string | undefined> {
  const found = await queries
    .selectFrom('applications')
    .select('client_id')
    .where('organization_guid', '=', organizationGuid)
    .where('replaces_client_id', '=', clientId)
    .executeTakeFirst();
  return found?.client_id;
}

export async function countWithoutAllowlist(
  transaction: Transaction,
  organizationGuid: string,
): Promise<number> {
  const { count } = await transaction
    .selectFrom('applications')
    .select((expression) => expression.fn.countAll<number>().as('count'))
    .where('organization_guid', '=', organizationGuid)
    .where(sql<boolean>`cardinality(ip_allowlist) = 0`)
    .executeTakeFirstOrThrow();
  return count;
}

/** In the order of `clientIds`; undefined for unknown ones. */
export async function selectClients(
  queries: Queries,
  clientIds: readonly string[],
): Promise<(Client | undefined)[]> {
  const rows = await queries
    .selectFrom('applications')
    .innerJoin('organizations', 'organizations.guid', 'applications.organization_guid')
    .leftJoin('banks', 'banks.guid', 'applications.bank_guid')
    .selectAll('applications')
    .select(['banks.environment', 'organizations.grant_guid'])
    .where('client_id', '=', sql<string>`any(${[...new Set(clientIds)]}::uuid[])`)
    .execute();
  const byId = new Map(rows.map((row) => [row.client_id, row]));
  return clientIds.map((clientId) => byId.get(clientId));
}

/** In the order of `clientIds`; the decoy's hash for unknown ones. */
export async function selectSecretHashes(
  queries: Queries,
  clientIds: readonly string[],
  decoy: SecretHash,
): Promise<SecretHash[]> {
  const { rows } = await sql<SecretHash>`
    select coalesce(applications.secret_hash, ${decoy.secret_hash}::bytea) as secret_hash,
      coalesce(applications.secret_key_id, ${decoy.secret_key_id}) as secret_key_id,
      applications.secret_hash_key_encrypted
    from unnest(${[...clientIds]}::uuid[]) with ordinality as requested (client_id, position)
    left join applications using (client_id)
    order by position`.execute(queries);
  return rows;
}

export async function updateSecretHash(queries: Queries, clientId: string, hash: SecretHash): Promise<void> {
  await queries.updateTable('applications').set(hash).where('client_id', '=', clientId).execute();
}

export async function countSecretsNotUnder(queries: Queries, keyId: string): Promise<number> {
  const { count } = await queries
    .selectFrom('applications')
    .select((expression) => expression.fn.countAll<number>().as('count'))
    .where('secret_key_id', '!=', keyId)
    .where('secret_hash_key_encrypted', 'is', null)
    .executeTakeFirstOrThrow();
  return count;
}

/** Imported key pairs that were not used since. */
export async function selectImported(
  transaction: Transaction,
): Promise<(SecretHash & Pick<Application, 'client_id'>)[]> {
  return transaction
    .selectFrom('applications')
    .select(['client_id', 'secret_hash', 'secret_key_id', 'secret_hash_key_encrypted'])
    .where('secret_hash_key_encrypted', 'is not', null)
    .forNoKeyUpdate()
    .execute();
}

export type Use = { clientId: string; at: Date; ip: string | undefined };

/** Locks the rows in client_id order, so that concurrent nodes cannot deadlock. */
export async function updateLastUsed(queries: Queries, uses: readonly Use[]): Promise<void> {
  const clientIds = uses.map((use) => use.clientId);
  await sql`
    with used as (
      select * from unnest(
        ${clientIds}::uuid[],
        ${uses.map((use) => use.at)}::timestamptz[],
        ${uses.map((use) => use.ip ?? null)}::text[]) as used (client_id, at, ip)
    ), locked as (
      select client_id from applications
      where client_id = any(${clientIds}::uuid[]) order by client_id for no key update
    )
    update applications
    set last_used_at = used.at, last_used_ip = coalesce(used.ip, applications.last_used_ip)
    from used join locked using (client_id)
    where applications.client_id = used.client_id
      and (applications.last_used_at is null or applications.last_used_at < used.at)`.execute(queries);
}

function ownedBy(queries: Queries, { organizationGuid, kind, bankGuid, environment }: Owner) {
  let query = queries
    .selectFrom('applications')
    .selectAll('applications')
    .where('applications.organization_guid', '=', organizationGuid)
    .where('applications.bank_guid', kind === 'bank' ? 'is not' : 'is', null);
  if (bankGuid) query = query.where('applications.bank_guid', '=', bankGuid);
  if (environment && kind === 'bank')
    query = query.where('applications.bank_guid', 'in', (subquery) =>
      subquery
        .selectFrom('banks')
        .select('guid')
        .where('organization_guid', '=', organizationGuid)
        .where('environment', '=', environment),
    );
  return query;
}
