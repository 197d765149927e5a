import type { Selectable } from 'kysely';
import type { Queries, Transaction } from '../database/database.ts';
import { type Page, type PageOf, selectPage } from '../database/paging.ts';
import type { EnvironmentName, Tables } from '../database/tables.ts';

export type Customer = Selectable<Tables['customers']>;

/** What a token may see: its Organization's, narrowed to its environment, its bank, its customer. */
export type Visible = {
  organizationGuid: string;
  environment?: EnvironmentName | undefined;
  bankGuid?: string | undefined;
  customerGuid?: string | undefined;
};

export type CustomerFilters = {
  guid?: readonly string[] | undefined;
  type?: readonly string[] | undefined;
  bankGuid?: readonly string[] | undefined;
  environment?: readonly string[] | undefined;
  createdAtGte?: Date | undefined;
  createdAtLt?: Date | undefined;
};

export async function insertCustomer(transaction: Transaction, customer: Customer): Promise<void> {
  await transaction.insertInto('customers').values(customer).execute();
}

/** The core's word on a customer; undefined when it says nothing new, or the guid belongs to another bank. */
export function upsertCustomer(transaction: Transaction, customer: Customer): Promise<Customer | undefined> {
  const { type, name, updated_at, bank_guid } = customer;
  return transaction
    .insertInto('customers')
    .values(customer)
    .onConflict((conflict) =>
      conflict
        .column('guid')
        .doUpdateSet({ type, name, updated_at })
        .where('customers.bank_guid', '=', bank_guid)
        .where(({ or, eb }) =>
          or([eb('customers.type', '!=', type), eb('customers.name', 'is distinct from', name)]),
        ),
    )
    .returningAll()
    .executeTakeFirst();
}

export function selectCustomer(
  queries: Queries,
  visible: Visible,
  guid: string,
): Promise<Customer | undefined> {
  return visibleTo(queries, visible).where('guid', '=', guid).executeTakeFirst();
}

export function selectCustomers(
  queries: Queries,
  visible: Visible,
  page: Page,
  filters: CustomerFilters,
): Promise<PageOf<Customer>> {
  let query = visibleTo(queries, visible);
  if (filters.guid) query = query.where('guid', 'in', filters.guid);
  if (filters.type) query = query.where('type', 'in', filters.type as Customer['type'][]);
  if (filters.bankGuid) query = query.where('bank_guid', 'in', filters.bankGuid);
  if (filters.environment) query = query.where('environment', 'in', filters.environment as EnvironmentName[]);
  if (filters.createdAtGte) query = query.where('created_at', '>=', filters.createdAtGte);
  if (filters.createdAtLt) query = query.where('created_at', '<', filters.createdAtLt);
  return selectPage(queries, query, page);
}

function visibleTo(queries: Queries, { organizationGuid, environment, bankGuid, customerGuid }: Visible) {
  let query = queries.selectFrom('customers').selectAll().where('organization_guid', '=', organizationGuid);
  if (environment) query = query.where('environment', '=', environment);
  if (bankGuid) query = query.where('bank_guid', '=', bankGuid);
  if (customerGuid) query = query.where('guid', '=', customerGuid);
  return query;
}
