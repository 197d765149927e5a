import type { Static } from 'typebox';
import type { Actor, Audit } from '../../infrastructure/audit/service.ts';
import type { Database, Transaction } from '../../infrastructure/database/database.ts';
import type { Page, PageOf } from '../../infrastructure/database/paging/paging.ts';
import type { EnvironmentName } from '../../infrastructure/database/tables.ts';
import { changesOf } from '../../infrastructure/runtime/changes.ts';
import type { Clock } from '../../infrastructure/runtime/clock.ts';
import { Failure } from '../../infrastructure/runtime/failure.ts';
import type { Guids } from '../../infrastructure/runtime/guid.ts';
import type { Events } from '../../webhooks/events/service.ts';
import { checkFeature } from './features.ts';
import {
  type BankChanges,
  DEFAULT_FEATURES,
  type Feature,
  type NewBank,
  type NewOrganization,
  type NewSandboxBank,
  type OrganizationChanges,
  type SecondFactorChanges,
} from './schema.ts';
import { checkSecondFactor } from './second-factor.ts';
import * as store from './store.ts';

export type { Bank, Organization } from './store.ts';
export type Organizations = ReturnType<typeof createOrganizations>;

type Deps = {
  database: Database;
  clock: Clock;
  guids: Guids;
  audit: Audit;
  events: Events;
  /** What has to hold of an Organization's keys before it goes live. */
  beforeGoingLive(transaction: Transaction, organizationGuid: string): Promise<Failure | undefined>;
};

/** Organizations and their Banks: who owns everything else. */
export function createOrganizations({ database, clock, guids, audit, events, beforeGoingLive }: Deps) {
  const { queries } = database;

  function createBank(
    actor: Actor,
    organizationGuid: string,
    input: Static<typeof NewBank>,
  ): Promise<store.Bank | Failure> {
    return database.transaction(async (transaction) => {
      if (!(await store.selectOrganization(transaction, organizationGuid))) return organizationNotFound();
      const now = clock.now();
      const bank: store.Bank = {
        guid: guids.next(),
        organization_guid: organizationGuid,
        name: input.name,
        environment: input.environment,
        created_at: now,
        updated_at: now,
      };
      await store.insertBank(transaction, bank);
      await audit.record(transaction, actor, aboutBank('bank.create', bank, input));
      await events.publish(transaction, [eventOf('bank.created', bank)]);
      return bank;
    });
  }

  return {
    create(actor: Actor, input: Static<typeof NewOrganization>): Promise<store.Organization> {
      return database.transaction(async (transaction) => {
        const now = clock.now();
        const organization: store.Organization = {
          guid: guids.next(),
          name: input.name,
          live: input.live ?? false,
          features: [...(input.features ?? DEFAULT_FEATURES)],
          second_factor_roles: [...(input.second_factor_roles ?? [])],
          second_factor_in_production: input.second_factor_in_production ?? null,
          created_at: now,
          updated_at: now,
        };
        await store.insertOrganization(transaction, organization);
        await audit.record(
          transaction,
          actor,
          aboutOrganization('organization.create', organization.guid, input),
        );
        return organization;
      });
    },

    update(
      actor: Actor,
      guid: string,
      input: Static<typeof OrganizationChanges>,
    ): Promise<store.Organization | Failure> {
      return database.transaction(async (transaction) => {
        const current = await store.selectOrganizationForUpdate(transaction, guid);
        if (!current) return organizationNotFound();
        const changes = changesOf(current, input);
        if (!changes) return current;
        const notReady = changes.live ? await beforeGoingLive(transaction, guid) : undefined;
        if (notReady) return notReady;
        await audit.record(transaction, actor, aboutOrganization('organization.update', guid, changes));
        return store.updateOrganization(transaction, guid, { ...changes, updated_at: clock.now() });
      });
    },

    /** In the transaction that makes sure that the actor may change it. */
    async changeSecondFactor(
      transaction: Transaction,
      actor: Actor,
      guid: string,
      input: Static<typeof SecondFactorChanges>,
    ): Promise<store.Organization | Failure> {
      const current = await store.selectOrganizationForUpdate(transaction, guid);
      if (!current) return organizationNotFound();
      const changes = changesOf(current, input);
      if (!changes) return current;
      await audit.record(transaction, actor, aboutOrganization('organization.update', guid, changes));
      return store.updateOrganization(transaction, guid, { ...changes, updated_at: clock.now() });
    },

    async get(guid: string): Promise<store.Organization | Failure> {
      return (await store.selectOrganization(queries, guid)) ?? organizationNotFound();
    },

    /** For a rule that must not see the Organization change under it. */
    async lockForShare(transaction: Transaction, guid: string): Promise<store.Organization | Failure> {
      return (await store.selectOrganizationForShare(transaction, guid)) ?? organizationNotFound();
    },

    /** Whether anything of it is in production: it is live, or has a production bank. */
    async isInProduction(transaction: Transaction, guid: string): Promise<boolean> {
      const organization = await store.selectOrganization(transaction, guid);
      if (organization?.live) return true;
      return store.hasBankIn(transaction, guid, 'production');
    },

    /** For a rule that counts what the Organization has before adding to it: whoever else does so waits. */
    async lockForUpdate(transaction: Transaction, guid: string): Promise<store.Organization | Failure> {
      return (await store.selectOrganizationForUpdate(transaction, guid)) ?? organizationNotFound();
    },

    /** Why this Organization may not use the feature; undefined when it may. */
    async checkFeature(guid: string, feature: Feature): Promise<Failure | undefined> {
      const organization = await store.selectOrganization(queries, guid);
      return organization ? checkFeature(organization, feature) : organizationNotFound();
    },

    /** Why a member without a second factor may not make this call; undefined when they may. */
    async checkSecondFactor(
      guid: string,
      call: Parameters<typeof checkSecondFactor>[1],
    ): Promise<Failure | undefined> {
      const organization = await store.selectOrganization(queries, guid);
      return organization ? checkSecondFactor(organization, call) : organizationNotFound();
    },

    /** Which of these there are; one query for any number. */
    async findAll(guidsToFind: readonly string[]): Promise<ReadonlySet<string>> {
      return new Set(await store.selectOrganizationGuids(queries, guidsToFind));
    },

    /** Those that there are of these, by their guid; on the connections of logins. */
    async getAllOfLogin(guidsToFind: readonly string[]): Promise<ReadonlyMap<string, store.Organization>> {
      if (guidsToFind.length === 0) return new Map();
      const found = await store.selectOrganizationsByGuid(database.authentication.queries, guidsToFind);
      return new Map(found.map((organization) => [organization.guid, organization]));
    },

    list: (page: Page) => store.selectOrganizations(database.lists, page),

    /** The one that was created first on this database. */
    first: () => store.selectFirstOrganization(database.queries),

    createBank,

    /** By a partner: in production a bank is the operator's to open. */
    async createSandboxBank(
      actor: Actor,
      { organizationGuid, environment }: store.VisibleBanks,
      input: Static<typeof NewSandboxBank>,
    ): Promise<store.Bank | Failure> {
      if (environment === 'production')
        return new Failure(
          'not_implemented',
          'Production banks come from the platform; create them in sandbox',
        );
      return createBank(actor, organizationGuid, { ...input, environment: 'sandbox' });
    },

    updateBank(actor: Actor, guid: string, input: Static<typeof BankChanges>): Promise<store.Bank | Failure> {
      return database.transaction(async (transaction) => {
        const current = await store.selectBankForUpdate(transaction, guid);
        if (!current) return bankNotFound();
        const changes = changesOf(current, input);
        if (!changes) return current;
        const bank = await store.updateBank(transaction, guid, { ...changes, updated_at: clock.now() });
        await audit.record(transaction, actor, aboutBank('bank.update', bank, changes));
        await events.publish(transaction, [eventOf('bank.updated', bank)]);
        return bank;
      });
    },

    async getBank(guid: string): Promise<store.Bank | Failure> {
      return (await store.selectBank(queries, guid)) ?? bankNotFound();
    },

    async getVisibleBank(visible: store.VisibleBanks, guid: string): Promise<store.Bank | Failure> {
      return (await store.selectVisibleBank(queries, visible, guid)) ?? bankNotFound();
    },

    /** The banks that there are of these, by their guid; one query for any number. */
    async findBanks(guidsToFind: readonly string[]): Promise<ReadonlyMap<string, store.Bank>> {
      if (guidsToFind.length === 0) return new Map();
      const banks = await store.selectBanksByGuid(queries, guidsToFind);
      return new Map(banks.map((bank) => [bank.guid, bank]));
    },

    /** A bank that a request names: of this Organization, and of this environment when there is one. */
    async findBank(
      organizationGuid: string,
      guid: string,
      environment: EnvironmentName | undefined,
    ): Promise<store.Bank | Failure> {
      const bank = await store.selectVisibleBank(queries, { organizationGuid, environment }, guid);
      return bank ?? new Failure('no_bank', 'bank_guid does not name a bank of yours in this environment');
    },

    async listBanks(
      organizationGuid: string,
      page: Page,
      filters: store.BankFilters,
    ): Promise<PageOf<store.Bank> | Failure> {
      if (!(await store.selectOrganization(queries, organizationGuid))) return organizationNotFound();
      return store.selectBanks(database.lists, { organizationGuid }, page, filters);
    },

    listVisibleBanks: (visible: store.VisibleBanks, page: Page, filters: store.BankFilters) =>
      store.selectBanks(database.lists, visible, page, filters),
  };
}

function organizationNotFound(): Failure {
  return new Failure('not_found', 'There is no such organization');
}

function bankNotFound(): Failure {
  return new Failure('not_found', 'There is no such bank');
}

function aboutOrganization(action: `organization.${string}`, guid: string, changes: Record<string, unknown>) {
  return { action, organizationGuid: guid, objectType: 'organization', objectId: guid, changes };
}

function aboutBank(action: `bank.${string}`, bank: store.Bank, changes: Record<string, unknown>) {
  return {
    action,
    organizationGuid: bank.organization_guid,
    objectType: 'bank',
    objectId: bank.guid,
    changes,
  };
}

function eventOf(eventType: 'bank.created' | 'bank.updated', bank: store.Bank) {
  return {
    eventType,
    organizationGuid: bank.organization_guid,
    bankGuid: bank.guid,
    objectGuid: bank.guid,
    environment: bank.environment,
  };
}
