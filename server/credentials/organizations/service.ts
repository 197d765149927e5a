import type { Static } from 'typebox';
import type { Actor } from '../../infrastructure/audit/service.ts';
import type { Base } from '../../infrastructure/base.ts';
import type { Transaction } from '../../infrastructure/database/database.ts';
import type { Page, PageOf } from '../../infrastructure/database/paging/paging.ts';
import type { EnvironmentName } from '../../infrastructure/database/tables.ts';
import { type RecordAnswer, recordNothing } from '../../infrastructure/idempotency/record-answer.ts';
import { changesOf } from '../../infrastructure/runtime/changes.ts';
import { Failure } from '../../infrastructure/runtime/failure.ts';
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

type Deps = Base & {
  events: Events;
  /** Returns a Failure while the Organization must not go live. */
  beforeGoingLive(transaction: Transaction, organizationGuid: string): Promise<Failure | undefined>;
};

/** Organizations and their Banks. */
export function createOrganizations({ database, clock, guids, audit, events, beforeGoingLive }: Deps) {
  const { queries } = database;

  function createBank(
    actor: Actor,
    organizationGuid: string,
    input: Static<typeof NewBank>,
    recordAnswer: RecordAnswer<store.Bank> = recordNothing,
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
      await audit.record(transaction, actor, bankChange('bank.create', bank, input));
      await events.publish(transaction, [eventOf('bank.created', bank)]);
      await recordAnswer(transaction, bank);
      return bank;
    });
  }

  async function change(
    transaction: Transaction,
    actor: Actor,
    guid: string,
    input: Static<typeof OrganizationChanges>,
  ): Promise<store.Organization | Failure> {
    const current = await store.selectOrganizationForUpdate(transaction, guid);
    if (!current) return organizationNotFound();
    const changes = changesOf(current, input);
    if (!changes) return current;
    const notReady = changes.live ? await beforeGoingLive(transaction, guid) : undefined;
    if (notReady) return notReady;
    await audit.record(transaction, actor, organizationChange('organization.update', guid, changes));
    return store.updateOrganization(transaction, guid, { ...changes, updated_at: clock.now() });
  }

  return {
    create(
      actor: Actor,
      input: Static<typeof NewOrganization>,
      recordAnswer: RecordAnswer<store.Organization> = recordNothing,
    ): Promise<store.Organization> {
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
        const change = organizationChange('organization.create', organization.guid, input);
        await audit.record(transaction, actor, change);
        await recordAnswer(transaction, organization);
        return organization;
      });
    },

    update: (
      actor: Actor,
      guid: string,
      input: Static<typeof OrganizationChanges>,
    ): Promise<store.Organization | Failure> =>
      database.transaction((transaction) => change(transaction, actor, guid, input)),

    changeSecondFactor: (
      transaction: Transaction,
      actor: Actor,
      guid: string,
      input: Static<typeof SecondFactorChanges>,
    ): Promise<store.Organization | Failure> => change(transaction, actor, guid, input),

    async get(guid: string): Promise<store.Organization | Failure> {
      return (await store.selectOrganization(queries, guid)) ?? organizationNotFound();
    },

    /** Blocks changes of the Organization until the transaction ends. */
    async lockForShare(transaction: Transaction, guid: string): Promise<store.Organization | Failure> {
      return (await store.selectOrganizationForShare(transaction, guid)) ?? organizationNotFound();
    },

    /** Whether the Organization is live or has a production bank. */
    async isInProduction(transaction: Transaction, guid: string): Promise<boolean> {
      const organization = await store.selectOrganization(transaction, guid);
      if (organization?.live) return true;
      return store.hasBankIn(transaction, guid, 'production');
    },

    /** Serializes transactions that check a limit of the Organization before adding to it. */
    async lockForUpdate(transaction: Transaction, guid: string): Promise<store.Organization | Failure> {
      return (await store.selectOrganizationForUpdate(transaction, guid)) ?? organizationNotFound();
    },

    async checkFeature(guid: string, feature: Feature): Promise<Failure | undefined> {
      const organization = await store.selectOrganization(queries, guid);
      return organization ? checkFeature(organization, feature) : organizationNotFound();
    },

    async checkSecondFactor(
      guid: string,
      call: Parameters<typeof checkSecondFactor>[1],
    ): Promise<Failure | undefined> {
      const organization = await store.selectOrganization(queries, guid);
      return organization ? checkSecondFactor(organization, call) : organizationNotFound();
    },

    /** Guids that exist, in one query. */
    async findAll(guidsToFind: readonly string[]): Promise<ReadonlySet<string>> {
      return new Set(await store.selectOrganizationGuids(queries, guidsToFind));
    },

    /** By guid, on the connections reserved for logins. */
    async findAllForLogin(guidsToFind: readonly string[]): Promise<ReadonlyMap<string, store.Organization>> {
      if (guidsToFind.length === 0) return new Map();
      const found = await store.selectOrganizationsByGuid(database.authentication.queries, guidsToFind);
      return new Map(found.map((organization) => [organization.guid, organization]));
    },

    list: (page: Page) => store.selectOrganizations(database.lists, page),

    first: () => store.selectFirstOrganization(database.queries),

    createBank,

    /** For partners; production banks are created by the operator. */
    async createSandboxBank(
      actor: Actor,
      { organizationGuid, environment }: store.VisibleBanks,
      input: Static<typeof NewSandboxBank>,
      recordAnswer?: RecordAnswer<store.Bank>,
    ): Promise<store.Bank | Failure> {
      if (environment === 'production')
        return new Failure(
          'not_implemented',
          'Banks can be created only in sandbox; ask the operator for a production bank',
        );
      return createBank(actor, organizationGuid, { ...input, environment: 'sandbox' }, recordAnswer);
    },

    updateBank(actor: Actor, guid: string, input: Static<typeof BankChanges>): Promise<store.Bank | Failure> {
      return database.transaction(async (transaction) => {
        const current = await store.selectBankForUpdate(transaction, guid);
        if (!current) return bankNotFound();
        const changes = changesOf(current, input);
        if (!changes) return current;
        const bank = await store.updateBank(transaction, guid, { ...changes, updated_at: clock.now() });
        await audit.record(transaction, actor, bankChange('bank.update', bank, changes));
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

    /** By guid, in one query. */
    async findBanks(guidsToFind: readonly string[]): Promise<ReadonlyMap<string, store.Bank>> {
      if (guidsToFind.length === 0) return new Map();
      const banks = await store.selectBanksByGuid(queries, guidsToFind);
      return new Map(banks.map((bank) => [bank.guid, bank]));
    },

    /** Bank named by the bank_guid of a request. */
    async findBank(
      organizationGuid: string,
      guid: string,
      environment: EnvironmentName | undefined,
    ): Promise<store.Bank | Failure> {
      const bank = await store.selectVisibleBank(queries, { organizationGuid, environment }, guid);
      return (
        bank ??
        new Failure(
          'no_bank',
          'bank_guid must be the guid of a bank of your Organization in this environment',
        )
      );
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

function organizationChange(
  action: `organization.${string}`,
  guid: string,
  changes: Record<string, unknown>,
) {
  return { action, organizationGuid: guid, objectType: 'organization', objectId: guid, changes };
}

function bankChange(action: `bank.${string}`, bank: store.Bank, changes: Record<string, unknown>) {
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
