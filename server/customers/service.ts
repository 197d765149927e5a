import type { Static } from 'typebox';
import type { Actor, Audit } from '../audit/service.ts';
import type { Database } from '../database/database.ts';
import type { Page } from '../database/paging.ts';
import type { Bank, Organizations } from '../organizations/service.ts';
import type { Clock } from '../runtime/clock.ts';
import { Failure, isFailure } from '../runtime/failure.ts';
import type { Guids } from '../runtime/guid.ts';
import type { NewCustomer } from './schema.ts';
import * as store from './store.ts';

export type { Customer, Visible } from './store.ts';
export type Customers = ReturnType<typeof createCustomers>;

type Deps = { database: Database; clock: Clock; guids: Guids; audit: Audit; organizations: Organizations };

/** The customers of the banks: whom tokens and files are about. */
export function createCustomers({ database, clock, guids, audit, organizations }: Deps) {
  const { queries } = database;

  /** A bank token has its bank, whatever the request says (specification, Authentication 3). */
  function bankOf(visible: store.Visible, named: string | undefined): Promise<Bank | Failure> | Failure {
    const guid = visible.bankGuid ?? named;
    if (guid === undefined) return new Failure('missing_parameter', 'bank_guid is required');
    return organizations.findBank(visible.organizationGuid, guid, visible.environment);
  }

  function customerOf(
    bank: Bank,
    guid: string,
    { type, name }: { type: store.Customer['type']; name?: string },
  ) {
    const now = clock.now();
    return {
      guid,
      organization_guid: bank.organization_guid,
      bank_guid: bank.guid,
      environment: bank.environment,
      type,
      name: name ?? null,
      created_at: now,
      updated_at: now,
    } satisfies store.Customer;
  }

  return {
    async create(
      actor: Actor,
      visible: store.Visible,
      input: Static<typeof NewCustomer>,
    ): Promise<store.Customer | Failure> {
      const bank = await bankOf(visible, input.bank_guid);
      if (isFailure(bank)) return bank;
      if (bank.environment === 'production')
        return new Failure(
          'not_implemented',
          'Production customers come from the platform; create them in sandbox',
        );
      const customer = customerOf(bank, guids.next(), input);
      await database.transaction(async (transaction) => {
        await store.insertCustomer(transaction, customer);
        await audit.record(transaction, actor, about('customer.create', customer));
      });
      return customer;
    },

    /** The platform's core reports a customer; the same report twice changes nothing. */
    async report(
      actor: Actor,
      guid: string,
      input: { bankGuid: string; type: store.Customer['type']; name?: string },
    ): Promise<store.Customer | Failure> {
      const bank = await organizations.getBank(input.bankGuid);
      if (isFailure(bank)) return new Failure('no_bank', 'bank_guid does not name a bank');
      return database.transaction(async (transaction) => {
        const customer = await store.upsertCustomer(transaction, customerOf(bank, guid, input));
        if (!customer) {
          const visible = { organizationGuid: bank.organization_guid, bankGuid: bank.guid };
          const unchanged = await store.selectCustomer(transaction, visible, guid);
          return unchanged ?? new Failure('no_bank', 'bank_guid is not the bank of this customer');
        }
        await audit.record(transaction, actor, about('customer.report', customer));
        return customer;
      });
    },

    async get(visible: store.Visible, guid: string): Promise<store.Customer | Failure> {
      const customer = await store.selectCustomer(queries, visible, guid);
      return customer ?? new Failure('not_found', 'There is no such customer');
    },

    list: (visible: store.Visible, page: Page, filters: store.CustomerFilters) =>
      store.selectCustomers(queries, visible, page, filters),
  };
}

function about(action: `customer.${string}`, customer: store.Customer) {
  return {
    action,
    organizationGuid: customer.organization_guid,
    objectType: 'customer',
    objectId: customer.guid,
    changes: { bank_guid: customer.bank_guid, type: customer.type },
  };
}
