import type { Static } from 'typebox';
import type { Freezes } from '../../credentials/organizations/freezes.ts';
import type { BankOwner, Organizations } from '../../credentials/organizations/service.ts';
import type { Database, Transaction } from '../../infrastructure/database/database.ts';
import { wasRolledBack } from '../../infrastructure/database/failures.ts';
import { FailureError } from '../../infrastructure/http/errors.ts';
import { type RecordAnswer, recordNothing } from '../../infrastructure/idempotency/record-answer.ts';
import { createBatcher } from '../../infrastructure/runtime/batcher.ts';
import type { Clock } from '../../infrastructure/runtime/clock.ts';
import { Failure, type FailureCode, isFailure } from '../../infrastructure/runtime/failure.ts';
import type { Subscriptions } from '../subscriptions/service.ts';
import { isRecentGuid } from './guid-window.ts';
import type { AcceptedEvents, ReportedEvents } from './schema.ts';
import type { Events, NewEvent } from './service.ts';
import { type Event, selectEventsByGuid } from './store.ts';

export type Ingest = ReturnType<typeof createIngest>;

type Deps = {
  database: Database;
  clock: Clock;
  events: Events;
  organizations: Organizations;
  freezes: Freezes;
  subscriptions: Pick<Subscriptions, 'rememberedEndpointsOf'>;
};
type Reported = Static<typeof ReportedEvents>['events'][number];
type Accepted = Static<typeof AcceptedEvents>;
type Answer = Accepted | Failure;
/** Whether owners and endpoints are read although they are remembered, and guids are looked up before they are used. */
type Use = { fresh: boolean };
type Published = Awaited<ReturnType<Events['publish']>>;
type Owners = {
  organizations: ReadonlySet<string>;
  banks: ReadonlyMap<string, BankOwner>;
  frozen: ReadonlyMap<string, Failure>;
};

/** Events of one transaction. */
const MAX_EVENTS_TOGETHER = 1_000;

/** Accepts events from the platform's core. A request is atomic, and repeating it is idempotent. */
export function createIngest({ database, clock, events, organizations, freezes, subscriptions }: Deps) {
  /** An existing bank proves its Organization, so only the others are looked up. */
  async function ownersOf(
    transaction: Transaction,
    reported: readonly Reported[],
    use: Use,
  ): Promise<Owners> {
    const named = new Set(reported.flatMap(({ bank_guid }) => bank_guid ?? []));
    const banks = await organizations.rememberedBanks(transaction, [...named], use);
    const proven = new Set(banks.values().map(organizationGuidOf));
    const owners = new Set(reported.map(organizationGuidOf));
    const found = await organizations.findAll([...owners.difference(proven)], transaction);
    // Read after the others: an Organization that was removed is not among the frozen ones.
    return { organizations: proven.union(found), banks, frozen: await freezes.among(owners, transaction) };
  }

  /** The answers of one transaction, or what refused all of it. */
  async function acceptOnce(
    calls: readonly (readonly Reported[])[],
    use: Use,
    recordAnswer?: RecordAnswer<Accepted>,
  ): Promise<Answer[] | Failure> {
    const accepting = database.transaction(async (transaction) => {
      const reported = calls.flat();
      const owners = await ownersOf(transaction, reported, use);
      const named = [...new Set(reported.map(organizationGuidOf))];
      const receivers = await subscriptions.rememberedEndpointsOf(transaction, named, use);
      const checked = calls.map((call) => checkAll(call, owners, clock.now()));
      const valid = checked.filter((result): result is NewEvent[] => !isFailure(result));
      const published = await events.publish(transaction, valid.flat(), { receivers, areNew: !use.fresh });
      const conflict = await conflictIn(transaction, published.events, published.created);
      if (conflict) return conflict;
      const accepted = answersFor(valid, published);
      const [only] = accepted;
      if (recordAnswer && only) await recordAnswer(transaction, only);
      const next = accepted.values();
      return checked.map((result) => (isFailure(result) ? result : (next.next().value as Accepted)));
    });
    return accepting.catch(failureOf);
  }

  /** Accepts several calls in one transaction; a refused one affects no other. */
  async function acceptAll(
    calls: readonly (readonly Reported[])[],
    recordAnswer?: RecordAnswer<Accepted>,
  ): Promise<Answer[]> {
    const answers = await acceptOnce(calls, { fresh: false }, recordAnswer).catch((error: unknown) => {
      if (wasRolledBack(error)) return acceptOnce(calls, { fresh: true }, recordAnswer);
      throw error;
    });
    if (!isFailure(answers)) return answers;
    // Retried one by one, so that only the refused call fails.
    if (calls.length === 1) return [answers];
    const single: Answer[] = [];
    for (const call of calls) single.push(...(await acceptAll([call])));
    return single;
  }

  const acceptTogether = createBatcher<readonly Reported[], Answer>({
    run: (calls) => acceptAll(calls),
    maxBatch: MAX_EVENTS_TOGETHER,
    weigh: ({ length }) => length,
  });

  return {
    /** Resolves after the commit. Concurrent calls share a transaction, except those that record their answer. */
    async accept(
      reported: readonly Reported[],
      recordAnswer: RecordAnswer<Accepted> = recordNothing,
    ): Promise<Answer> {
      if (recordAnswer === recordNothing) return acceptTogether(reported);
      const [answer] = await acceptAll([reported], recordAnswer);
      return answer as Answer;
    },
  };
}

/** Turns the refusal that `publish` throws into an answer. */
function failureOf(error: unknown): Failure {
  if (error instanceof FailureError) return error.failure;
  throw error;
}

function organizationGuidOf({ organization_guid }: { organization_guid: string }): string {
  return organization_guid;
}

function answersFor(calls: readonly (readonly NewEvent[])[], published: Published): Accepted[] {
  const accepted = published.events.values();
  const notCounted = new Set(published.created);
  return calls.map(({ length }) => {
    const guids = accepted
      .take(length)
      .map(({ guid }) => guid)
      .toArray();
    return { total: length, created: guids.filter((guid) => notCounted.delete(guid)).length, guids };
  });
}

function checkAll(reported: readonly Reported[], owners: Owners, now: Date): NewEvent[] | Failure {
  const checked: NewEvent[] = [];
  for (const [index, event] of reported.entries()) {
    const result = check(event, index, owners, now);
    if (isFailure(result)) return result;
    checked.push(result);
  }
  return checked;
}

function check(event: Reported, index: number, owners: Owners, now: Date): NewEvent | Failure {
  const invalid = (code: FailureCode, field: keyof Reported, problem: string) =>
    new Failure(code, `events[${index}].${field} ${problem}`);
  const { guid, bank_guid: bankGuid, organization_guid: organizationGuid } = event;
  if (guid !== undefined && !isRecentGuid(guid, now))
    return invalid(
      'invalid_parameter',
      'guid',
      'must be a UUIDv7 of the last 7 days, at most 5 minutes ahead',
    );
  if (!owners.organizations.has(organizationGuid))
    return invalid('unknown_organization', 'organization_guid', 'does not name an organization');
  const frozen = owners.frozen.get(organizationGuid);
  if (frozen) return frozen;
  const bank = bankGuid === undefined ? undefined : owners.banks.get(bankGuid);
  if (bankGuid !== undefined && bank?.organization_guid !== organizationGuid)
    return invalid('no_bank', 'bank_guid', 'does not name a bank of this organization');
  const environment = event.environment ?? bank?.environment;
  if (environment === undefined)
    return invalid('missing_parameter', 'environment', 'is required without bank_guid');
  if (bank && bank.environment !== environment)
    return invalid('invalid_parameter', 'environment', 'must match the environment of the bank');
  const { event_type: eventType, object_guid: objectGuid } = event;
  return { guid, organizationGuid, bankGuid, eventType, objectGuid, environment };
}

/** A guid identifies one event: using it again with different content is a conflict. */
async function conflictIn(
  transaction: Transaction,
  accepted: readonly Event[],
  created: ReadonlySet<string>,
): Promise<Failure | undefined> {
  const repeated = accepted.filter(({ guid }) => !created.has(guid)).map(({ guid }) => guid);
  const stored = repeated.length === 0 ? [] : await selectEventsByGuid(transaction, repeated);
  const originals = new Map(stored.map((event) => [event.guid, event]));
  for (const [index, event] of accepted.entries()) {
    const original = originals.get(event.guid);
    if (!original) originals.set(event.guid, event);
    else if (!isSameEvent(event, original))
      return new Failure('event_conflict', `events[${index}].guid belongs to a different event`);
  }
  return undefined;
}

function isSameEvent(one: Event, other: Event): boolean {
  return (
    one.organization_guid === other.organization_guid &&
    one.bank_guid === other.bank_guid &&
    one.event_type === other.event_type &&
    one.object_guid === other.object_guid &&
    one.environment === other.environment
  );
}
