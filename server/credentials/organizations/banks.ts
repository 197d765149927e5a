import { isDeepStrictEqual } from 'node:util';
import type { Static } from 'typebox';
import type { Actor } from '../../infrastructure/audit/service.ts';
import type { Base } from '../../infrastructure/base.ts';
import type { Queries } from '../../infrastructure/database/database.ts';
import type { Page, PageOf } from '../../infrastructure/database/paging/paging.ts';
import { createRemembered } from '../../infrastructure/database/remembered.ts';
import type { EnvironmentName } from '../../infrastructure/database/tables.ts';
import { type RecordAnswer, recordNothing } from '../../infrastructure/idempotency/record-answer.ts';
import { changesOf, replacedBy } from '../../infrastructure/runtime/changes.ts';
import { Failure, type Precondition } from '../../infrastructure/runtime/failure.ts';
import type { Events } from '../../webhooks/events/service.ts';
import {
  type BankChanges,
  type BankControls,
  FIAT_ASSETS,
  type NewBank,
  type NewSandboxBank,
  shownLists,
  TRADING_SYMBOLS,
} from './schema.ts';
import * as store from './store.ts';

/** Of an Organization: the dashboard lists as many. Production banks are created by the operator. */
const MAX_SANDBOX_BANKS = 1_000;
const MAX_REMEMBERED_BANKS = 10_000;

/** The Banks of Organizations; part of the Organizations service. */
export function createBanks({ database, clock, guids, audit, events }: Base & { events: Events }) {
  const { queries } = database;

  /** By guid, in one query. */
  async function findBanks(
    guidsToFind: readonly string[],
    within: Queries = queries,
  ): Promise<ReadonlyMap<string, store.BankSummary>> {
    if (guidsToFind.length === 0) return new Map();
    const banks = await store.selectBanksByGuid(within, guidsToFind);
    return new Map(banks.map((bank) => [bank.guid, bank]));
  }

  function createBank(
    actor: Actor,
    organizationGuid: string,
    input: Static<typeof NewBank>,
    recordAnswer: RecordAnswer<store.Bank> = recordNothing,
  ): Promise<store.Bank | Failure> {
    return database.transaction(async (transaction) => {
      if (input.type !== undefined && input.type !== input.environment)
        return new Failure('invalid_parameter', `type must equal environment (${input.environment})`);
      const unsupported = checkCatalogue(input);
      if (unsupported) return unsupported;
      // The lock serializes concurrent creations, so that they cannot exceed the limit.
      const organization = await store.selectOrganizationForUpdate(transaction, organizationGuid);
      if (!organization) return organizationNotFound();
      if (
        input.environment === 'sandbox' &&
        (await store.countSandboxBanks(transaction, organizationGuid)) >= MAX_SANDBOX_BANKS
      )
        return new Failure(
          'bank_limit_reached',
          `The Organization has ${MAX_SANDBOX_BANKS} banks in sandbox, the limit; use one of them`,
        );
      const now = clock.now();
      const bank: store.Bank = {
        guid: guids.next(),
        organization_guid: organizationGuid,
        name: input.name,
        environment: input.environment,
        features: input.features ?? [],
        supported_fiat_account_assets: null,
        supported_trading_symbols: null,
        ...storedLists(input),
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

  return {
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

    updateBank(
      actor: Actor,
      guid: string,
      input: Static<typeof BankChanges> | Static<typeof BankControls>,
      precondition?: Precondition<store.Bank>,
    ): Promise<store.Bank | Failure> {
      return database.transaction(async (transaction) => {
        const current = await store.selectBankForUpdate(transaction, guid);
        if (!current) return bankNotFound();
        const refusal = precondition?.(current) ?? checkCatalogue(input);
        if (refusal) return refusal;
        // Compared with what clients see: the stored null stands for the catalogue.
        const shown = { ...current, ...shownLists(current) };
        const changes: Static<typeof BankControls> | undefined = changesOf(shown, input);
        if (!changes) return current;
        const stored = { ...changes, ...storedLists(changes), updated_at: clock.now() };
        const bank = await store.updateBank(transaction, guid, stored);
        await audit.record(transaction, actor, bankChange('bank.update', shown, changes));
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

    findBanks,

    /** As `findBanks`, for reported events: without a round trip for banks that were found before. */
    rememberedBanks: createRemembered<store.BankOwner>({
      clock,
      read: (transaction, guidsToFind) => findBanks(guidsToFind, transaction),
      check: (transaction, banks) => store.requireBanks(transaction, [...banks.keys()]),
      maxRemembered: MAX_REMEMBERED_BANKS,
    }),

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

export function organizationNotFound(): Failure {
  return new Failure('not_found', 'There is no such organization');
}

function bankNotFound(): Failure {
  return new Failure('not_found', 'There is no such bank');
}

/** The lists of a bank have entries of the catalogue only. */
function checkCatalogue(input: Static<typeof BankControls>): Failure | undefined {
  return (
    checkEntries('supported_fiat_account_assets', input.supported_fiat_account_assets, FIAT_ASSETS) ??
    checkEntries('supported_trading_symbols', input.supported_trading_symbols, TRADING_SYMBOLS)
  );
}

function checkEntries(
  field: string,
  entries: readonly string[] = [],
  known: readonly string[],
): Failure | undefined {
  const wrong = entries.findIndex((entry) => !known.includes(entry));
  if (wrong === -1) return undefined;
  return new Failure('invalid_parameter', `${field}[${wrong}] must be one of ${known.join(', ')}`);
}

/** A list of the whole catalogue is stored as null, so that it has the entries to come. */
function storedLists({
  supported_fiat_account_assets: assets,
  supported_trading_symbols: symbols,
}: Static<typeof BankControls>) {
  return {
    ...(assets && { supported_fiat_account_assets: isDeepStrictEqual(assets, FIAT_ASSETS) ? null : assets }),
    ...(symbols && {
      supported_trading_symbols: isDeepStrictEqual(symbols, TRADING_SYMBOLS) ? null : symbols,
    }),
  };
}

function bankChange(
  action: 'bank.create' | 'bank.update',
  bank: store.Bank,
  changes: Record<string, unknown>,
) {
  return {
    action,
    organizationGuid: bank.organization_guid,
    objectType: 'bank',
    objectId: bank.guid,
    changes,
    before: action === 'bank.update' ? replacedBy(changes, bank) : undefined,
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
