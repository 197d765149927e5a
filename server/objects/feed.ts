import { isDeepStrictEqual } from 'node:util';
import type { Bank, Organizations } from '../credentials/organizations/service.ts';
import type { Actor, Audit } from '../infrastructure/audit/service.ts';
import type { Database, Transaction } from '../infrastructure/database/database.ts';
import type { Clock } from '../infrastructure/runtime/clock.ts';
import { Failure, isFailure } from '../infrastructure/runtime/failure.ts';
import type { Events } from '../webhooks/events/service.ts';
import { canTransition, type Details, refuseTransition } from './machine.ts';
import { changeOf, eventsOf } from './records.ts';
import { type ReportedObject, storedDetails } from './schema.ts';
import type { ReferencedFiles } from './service.ts';
import * as store from './store.ts';
import { filesIn, type ObjectType, wordsOf } from './types.ts';

export type Feed = ReturnType<typeof createFeed>;

type Deps = {
  database: Database;
  clock: Clock;
  audit: Audit;
  events: Events;
  organizations: Organizations;
  files: Pick<ReferencedFiles, 'lockExisting'>;
};

/** Applies the reports of the platform's core to objects, in both environments. A repeated report changes nothing. */
export function createFeed({ database, clock, audit, events, organizations, files }: Deps) {
  /** The object that the first report creates. */
  function created(
    type: ObjectType,
    guid: string,
    bank: Bank,
    { customer_guid, state, details, labels = [] }: ReportedObject,
  ): store.ObjectRow | Failure {
    if (details === undefined)
      return new Failure('missing_parameter', 'details is required in the first report of an object');
    const now = clock.now();
    return {
      guid,
      organization_guid: bank.organization_guid,
      environment: bank.environment,
      bank_guid: bank.guid,
      customer_guid: type.customer === 'itself' ? guid : (customer_guid ?? null),
      type: type.name,
      state: stateOf(type, state, details),
      details,
      labels,
      created_at: now,
      updated_at: now,
      ending: null,
      next_move_at: null,
    };
  }

  /** The object after a later report. */
  function changed(
    type: ObjectType,
    object: store.ObjectRow,
    report: ReportedObject,
  ): store.ObjectRow | Failure {
    const name = wordsOf(type.name);
    if (object.type !== type.name)
      return new Failure('object_conflict', `guid belongs to an object of another type than ${name}`);
    if (object.bank_guid !== report.bank_guid)
      return new Failure('no_bank', `bank_guid must be the bank of this ${name}; it cannot change`);
    const customer_guid = report.customer_guid ?? object.customer_guid;
    if (object.customer_guid !== null && object.customer_guid !== customer_guid)
      return new Failure(
        'no_customer',
        `customer_guid must be the customer of this ${name}; it cannot change`,
      );
    const details = report.details ?? object.details;
    const state = stateOf(type, report.state, details);
    const changesState = state !== object.state;
    const changesDerivation = type.machine?.derived && !isDeepStrictEqual(details, object.details);
    if (changesState && type.machine && object.state !== null && state !== null)
      if (!canTransition(type.machine, object.state, state))
        return refuseTransition(name, object.state, state);
    return {
      ...object,
      customer_guid,
      state,
      details,
      labels: report.labels ?? object.labels,
      // A report that changes the state, or details that determine it, ends the simulation.
      ...((changesState || changesDerivation) && { ending: null, next_move_at: null }),
    };
  }

  async function refuseCustomer(
    transaction: Transaction,
    bank: Bank,
    guid: string | undefined,
  ): Promise<Failure | undefined> {
    if (guid === undefined) return undefined;
    const visible = { organizationGuid: bank.organization_guid, bankGuid: bank.guid };
    return (await store.selectObject(transaction, visible, 'customer', guid))
      ? undefined
      : new Failure('no_customer', 'customer_guid must be the guid of a customer of this bank');
  }

  return {
    async report(
      actor: Actor,
      type: ObjectType,
      guid: string,
      given: ReportedObject,
    ): Promise<store.ObjectRow | Failure> {
      const report = given.details ? { ...given, details: storedDetails(type, given.details) } : given;
      const bank = await organizations.getBank(report.bank_guid);
      if (isFailure(bank)) return new Failure('no_bank', 'bank_guid must be the guid of a bank');
      const refusal = given.details && type.refuse?.(given.details, []);
      if (refusal) return refusal;
      return database.transaction(async (transaction) => {
        const frozen = await organizations.checkFrozen(bank.organization_guid, transaction);
        if (frozen) return frozen;
        const noCustomer = await refuseCustomer(transaction, bank, report.customer_guid);
        if (noCustomer) return noCustomer;
        const fileGuids = filesIn(type, report.details ?? {});
        if (fileGuids.length > 0) await files.lockExisting(transaction, bank.organization_guid, fileGuids);
        let before = await store.lockObject(transaction, guid);
        if (!before) {
          const object = created(type, guid, bank, report);
          if (isFailure(object)) return object;
          if (await store.insertObject(transaction, object)) return recordChange(transaction, null, object);
          // A concurrent report created the object first.
          before = (await store.lockObject(transaction, guid)) as store.ObjectRow;
        }
        const after = changed(type, before, report);
        if (isFailure(after) || isDeepStrictEqual(after, before)) return after;
        const object = { ...after, updated_at: clock.now() };
        await store.updateObject(transaction, object);
        return recordChange(transaction, before.state, object);
      });

      async function recordChange(transaction: Transaction, from: string | null, object: store.ObjectRow) {
        await audit.record(transaction, actor, changeOf(type, 'report', object));
        await events.publish(transaction, eventsOf(type, from, object));
        return object;
      }
    },
  };
}

function stateOf({ machine }: ObjectType, reported: string | undefined, details: Details): string | null {
  return machine?.derived?.stateOf(details) ?? reported ?? null;
}
