import type { Bank, Organizations } from '../credentials/organizations/service.ts';
import type { Actor } from '../infrastructure/audit/service.ts';
import type { Base } from '../infrastructure/base.ts';
import type { Queries, Transaction } from '../infrastructure/database/database.ts';
import type { Page, PageOf } from '../infrastructure/database/paging/paging.ts';
import { refuseUnknown } from '../infrastructure/http/requests/filters.ts';
import { type RecordAnswer, recordNothing } from '../infrastructure/idempotency/record-answer.ts';
import { Failure, isFailure } from '../infrastructure/runtime/failure.ts';
import type { Events } from '../webhooks/events/service.ts';
import { type ObjectFilters, refersToFile, selectObjects, type Tenant } from './lists/list-store.ts';
import { type Details, firstStateOf, type Machine, pathTo, statesOf } from './machine.ts';
import { findQuote, quoteUsed } from './market/from-quote.ts';
import { insertQuoteUse } from './market/quote-store.ts';
import { changeOf, eventsOf } from './records.ts';
import { type NewObject, storedDetails } from './schema.ts';
import type { Simulator } from './simulator.ts';
import * as store from './store.ts';
import { filesIn, isDeleted, OBJECT_TYPES, type ObjectType, withArticle, wordsOf } from './types.ts';
import { createUpdates } from './updates.ts';

export type { ObjectRow, Visible } from './store.ts';
export type Objects = ReturnType<typeof createObjects>;
export type Customers = Pick<Objects, 'getCustomer'>;
export type FileReferences = Pick<Objects, 'refersToFile'>;

/** Files that an object refers to. They are locked until the transaction ends, so that none is deleted meanwhile. */
export type ReferencedFiles = {
  /** False unless all are completed files of the customer. */
  lockCompleted(
    transaction: Transaction,
    visible: store.Visible,
    customerGuid: string,
    guids: readonly string[],
  ): Promise<boolean>;
  /** Existing ones. */
  lockExisting(transaction: Transaction, organizationGuid: string, guids: readonly string[]): Promise<void>;
};

type Deps = Base & {
  events: Events;
  organizations: Organizations;
  simulator: Simulator;
  files: Pick<ReferencedFiles, 'lockCompleted'>;
};

/** The objects of the platform: readable in both environments, created by partners in sandbox. */
export function createObjects(deps: Deps) {
  const { database, clock, guids, audit, events, organizations, simulator, files } = deps;
  const { queries } = database;

  /** A bank token determines the bank, whatever the request says (specification, Authentication 3). */
  async function bankFor(type: ObjectType, visible: store.Visible, named?: string): Promise<Bank | Failure> {
    const refusal = new Failure(
      'not_implemented',
      `${type.plural} can be created in sandbox only; the platform creates those in production`,
    );
    if (visible.environment === 'production') return refusal;
    const guid = visible.bankGuid ?? named;
    if (guid === undefined) return new Failure('missing_parameter', 'bank_guid is required');
    const bank = await organizations.findBank(visible.organizationGuid, guid, visible.environment);
    return isFailure(bank) || bank.environment === 'sandbox' ? bank : refusal;
  }

  /** A customer owns itself, and an execution belongs to the customer of its plan. */
  async function customerFor(
    type: ObjectType,
    inBank: store.Visible,
    { own, named, owner }: { own: string; named: string | undefined; owner: store.ObjectRow | undefined },
  ): Promise<string | null | Failure> {
    if (type.customer === 'itself') return own;
    const guid = named ?? inBank.customerGuid ?? owner?.customer_guid ?? undefined;
    if (guid === undefined)
      return type.customer === 'optional'
        ? null
        : new Failure('missing_parameter', 'customer_guid is required');
    return (await store.selectObject(queries, inBank, 'customer', guid))
      ? guid
      : new Failure('no_customer', 'customer_guid must be the guid of a customer of this bank');
  }

  async function ownerOf(
    { owner }: ObjectType,
    inBank: store.Visible,
    details: Details,
  ): Promise<store.ObjectRow | undefined> {
    const guid = owner && details[owner.field];
    return guid ? store.selectObject(queries, inBank, owner.type, String(guid)) : undefined;
  }

  /** Referenced objects must exist, belong to the same customer and have the right type. */
  async function refuseReferences(
    { references = {}, owner: by }: ObjectType,
    inBank: store.Visible,
    customerGuid: string | null,
    details: Details,
  ): Promise<Failure | undefined> {
    const named = Object.entries(references).filter(([name]) => details[name] !== undefined);
    const guidIn = (name: string) => String(details[name]);
    const found = await store.selectNamed(
      queries,
      { ...inBank, customerGuid: customerGuid ?? undefined },
      named.map(([name]) => guidIn(name)),
    );
    const owner = customerGuid === null ? 'bank' : 'customer';
    for (const [name, kinds] of named) {
      const object = found.get(guidIn(name));
      const expected = `${name} must be the guid of ${kinds.map(withArticle).join(' or ')} of this ${owner}`;
      if (!object || !kinds.includes(object.type)) return new Failure('no_object', expected);
      if (isDeleted(object)) return new Failure('no_object', `${expected}; this one is ${object.state}`);
    }
    return by && refuseOwner(by, found.get(guidIn(by.field)), details);
  }

  async function refuseFiles(
    transaction: Transaction,
    type: ObjectType,
    inBank: store.Visible,
    { customer_guid: customerGuid, details }: store.ObjectRow,
  ): Promise<Failure | undefined> {
    const guids = filesIn(type, details);
    if (guids.length === 0 || customerGuid === null) return undefined;
    return (await files.lockCompleted(transaction, inBank, customerGuid, guids))
      ? undefined
      : new Failure('file_not_completed', `${type.files} must be guids of completed files of the customer`);
  }

  async function get(
    visible: store.Visible,
    type: string,
    guid: string,
    { reserved = false } = {},
  ): Promise<store.ObjectRow | Failure> {
    const object = await store.selectObject(reserved ? database.reserved : queries, visible, type, guid);
    return object ?? new Failure('not_found', `There is no such ${wordsOf(type)}`);
  }

  return {
    async create(
      actor: Actor,
      visible: store.Visible,
      type: ObjectType,
      { bank_guid, customer_guid, labels = [], simulate, ...given }: NewObject,
      recordAnswer: RecordAnswer<store.ObjectRow> = recordNothing,
    ): Promise<store.ObjectRow | Failure> {
      const bank = await bankFor(type, visible, bank_guid);
      if (isFailure(bank)) return bank;
      const inBank = { ...visible, bankGuid: bank.guid };
      const guid = guids.next();
      const now = clock.now();
      const quote = type.fromQuote && (await findQuote(queries, inBank, type.fromQuote, given, now));
      if (isFailure(quote)) return quote;
      const owner = await ownerOf(type, inBank, given);
      const input = storedDetails(type, { ...sharedWith(type, owner), ...given });
      const details = detailsOf(type, input, quote, now);
      if (isFailure(details)) return details;
      const named = customer_guid ?? quote?.customer_guid ?? undefined;
      const customerGuid = await customerFor(type, inBank, { own: guid, named, owner });
      if (isFailure(customerGuid)) return customerGuid;
      if (quote && quote.customer_guid !== customerGuid)
        return new Failure('no_object', 'quote_guid must be the guid of a quote of this customer');
      const path = type.machine ? pathTo(type.machine, simulate) : [];
      const refusal =
        type.refuse?.(given, path) ?? (await refuseReferences(type, inBank, customerGuid, details));
      if (refusal) return refusal;

      const state = type.machine ? initialState(type.machine, details) : null;
      const object: store.ObjectRow = {
        guid,
        organization_guid: bank.organization_guid,
        environment: bank.environment,
        bank_guid: bank.guid,
        customer_guid: customerGuid,
        type: type.name,
        state,
        details,
        labels,
        created_at: now,
        updated_at: now,
        ...simulator.plan(type, state, path.at(-1), now),
      };
      const written = await database.transaction(async (transaction) => {
        const noFiles = await refuseFiles(transaction, type, inBank, object);
        if (noFiles) return noFiles;
        const { organization_guid } = object;
        const use = quote && { organization_guid, quote_guid: quote.guid, object_guid: guid, used_at: now };
        if (use && !(await insertQuoteUse(transaction, use))) return quoteUsed();
        await store.insertObject(transaction, object);
        await audit.record(transaction, actor, changeOf(type, 'create', object));
        await events.publish(transaction, eventsOf(type, null, object));
        await recordAnswer(transaction, object);
        return object;
      });
      if (object.next_move_at && !isFailure(written)) simulator.expect(object.next_move_at);
      return written;
    },

    ...createUpdates(deps),

    get,

    /** Of any type. */
    async find(visible: store.Visible, guid: string): Promise<store.ObjectRow | undefined> {
      return (await store.selectNamed(queries, visible, [guid])).get(guid);
    },

    /** `reserved` uses the connections that are reserved for the token endpoints. */
    getCustomer: (visible: store.Visible, guid: string, options: { reserved?: boolean } = {}) =>
      get(visible, 'customer', guid, options),

    /** Whether an object refers to the file. */
    refersToFile(queries: Queries, tenant: Tenant, fileGuid: string): Promise<boolean> {
      const types = OBJECT_TYPES.filter(({ files }) => files !== undefined).map(({ name }) => name);
      return refersToFile(queries, tenant, types, fileGuid);
    },

    async list(
      visible: store.Visible,
      type: ObjectType,
      page: Page,
      filters: ObjectFilters,
    ): Promise<PageOf<store.ObjectRow> | Failure> {
      const refusal = refuseChoices(type, filters);
      return refusal ?? selectObjects(database.lists, visible, type.name, page, filters);
    },
  };
}

function detailsOf(
  { fromQuote, complete }: ObjectType,
  input: Details,
  quote: store.ObjectRow | undefined,
  now: Date,
): Details | Failure {
  if (quote && fromQuote) return { ...fromQuote.take(quote.details), ...input };
  return complete ? complete(input, now) : input;
}

function refuseChoices({ machine, details }: ObjectType, filters: ObjectFilters): Failure | undefined {
  const choicesOf = (field: string) => (details.properties[field] as { enum?: string[] } | undefined)?.enum;
  return (
    refuseUnknown('state', filters.state, machine && statesOf(machine)) ??
    refuseUnknown('type', filters.type, choicesOf('type')) ??
    refuseUnknown('side', filters.side, choicesOf('side')) ??
    refuseUnknown('transfer_type', filters.transferType, choicesOf('transfer_type'))
  );
}

function initialState(machine: Machine, details: Details): string {
  return machine.derived?.stateOf(details) ?? firstStateOf(machine);
}

/** The fields that a new object takes from its owner. */
function sharedWith({ owner: by }: ObjectType, owner: store.ObjectRow | undefined): Details {
  const fields = owner ? (by?.shares ?? []) : [];
  return Object.fromEntries(fields.map((field) => [field, owner?.details[field]]));
}

function refuseOwner(
  { field, type, shares = [], refuse, unlessCompleted }: NonNullable<ObjectType['owner']>,
  owner: store.ObjectRow | undefined,
  details: Details,
): Failure | undefined {
  if (!owner) return undefined;
  // `completed` is a final state of a plan, so it is still completed when the execution is written.
  if (unlessCompleted && owner.state !== 'completed')
    return new Failure(
      unlessCompleted,
      `${field} must be the guid of a completed ${type}; this ${type} is ${owner.state}`,
    );
  const other = shares.find((name) => details[name] !== owner.details[name]);
  if (other === undefined) return refuse?.(owner.details);
  return new Failure(
    'no_object',
    `${field} must be the guid of ${withArticle(type)} with the ${other} ${details[other]}; this ${type} has ${owner.details[other]}`,
  );
}
