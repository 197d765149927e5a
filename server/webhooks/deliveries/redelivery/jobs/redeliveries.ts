import type { Static } from 'typebox';
import type { Actor } from '../../../../infrastructure/audit/service.ts';
import type { Base } from '../../../../infrastructure/base.ts';
import type { Page, PageOf } from '../../../../infrastructure/database/paging/paging.ts';
import { knownValues } from '../../../../infrastructure/http/requests/filters.ts';
import { type RecordAnswer, recordNothing } from '../../../../infrastructure/idempotency/record-answer.ts';
import { hasPassed } from '../../../../infrastructure/runtime/clock.ts';
import { Failure, isFailure } from '../../../../infrastructure/runtime/failure.ts';
import type { EventCounters } from '../../../events/counters.ts';
import { createEventWindows } from '../../../events/windows.ts';
import type { Endpoint, Subscriptions } from '../../../subscriptions/service.ts';
import type { Visible } from '../../../visible.ts';
import type { Enqueue } from '../../queue/enqueue.ts';
import { forceIndexOrder } from '../../store.ts';
import { findDeliveringEndpoint } from '../delivering-endpoints.ts';
import { createPreview } from './redelivery-preview.ts';
import type { NewRecovery } from './redelivery-schema.ts';
import { createRedeliverySources } from './redelivery-sources.ts';
import * as store from './redelivery-store.ts';
import { windowOf } from './redelivery-window.ts';

export type Redeliveries = ReturnType<typeof createRedeliveries>;

/** A redelivery pauses while this many deliveries wait for its subscription, which bounds the queue. */
const MAX_WAITING = 5_000;
/** After a step that advanced no redelivery: it may have counted the waiting deliveries of many subscriptions. */
const REST_MS = 1_000;
/** After a step that did not check all redeliveries. */
const SHORT_REST_MS = 100;
/** Redeliveries checked in one step; busy subscriptions are skipped. */
const MAX_CHECKED_PER_STEP = 20;
const MAX_SWEPT = 1_000;
/** Per subscription. */
const MAX_RUNNING = 10;
const DAY_MS = 24 * 3_600_000;

type Deps = Base & {
  subscriptions: Subscriptions;
  enqueueFor: Enqueue['enqueueFor'];
  eventCounters: EventCounters;
  retentionDays: number;
};

/** Filters with names of states and kinds that are not validated yet. */
type RequestedFilters = Omit<store.RedeliveryFilters, 'state' | 'kind'> & {
  state?: readonly string[] | undefined;
  kind?: readonly string[] | undefined;
};

/**
 * Redelivery of a time window (API: subscription_recoveries). Progress commits with the deliveries, so any node
 * continues where another stopped, and nothing is redelivered twice.
 */
export function createRedeliveries(deps: Deps) {
  const { database, clock, guids, audit, subscriptions, retentionDays } = deps;
  const { queries } = database;
  const eventWindows = createEventWindows({ counters: deps.eventCounters, retentionDays });
  const sources = createRedeliverySources({ ...deps, eventWindows });
  let rest: { since: number; ms: number } | undefined;
  let createdCount = 0;
  /** Steps take turns: each starts after the redelivery of the previous one. */
  let lastChecked: string | undefined;

  async function nextRunning(): Promise<store.RunningRedelivery | undefined> {
    const limits = { maxWaiting: MAX_WAITING + 1, now: clock.now() };
    const after = lastChecked;
    const next = await store.selectRunning(queries, after, limits);
    if (next || after === undefined) return next;
    lastChecked = undefined;
    return store.selectRunning(queries, undefined, limits);
  }

  /** Redelivers one batch; false when another node has locked it. */
  function advance(guid: string, endpoint: Endpoint | undefined): Promise<boolean> {
    return database.transaction(async (transaction) => {
      const redelivery = await store.lockRunning(transaction, guid);
      if (!redelivery) return false;
      const now = clock.now();
      if (!endpoint?.delivers) {
        await store.updateRedelivery(transaction, guid, { failed_at: now, updated_at: now });
        return true;
      }
      await forceIndexOrder(transaction);
      const step = await sources[redelivery.kind].step(transaction, redelivery, endpoint);
      const done = redelivery.done + step.processed;
      await store.updateRedelivery(transaction, guid, {
        done,
        // The total may differ by expired history and outcomes recorded late.
        total: step.isLast ? done : Math.max(redelivery.total, done),
        // A job that an earlier version began has not counted skipped deliveries.
        redelivered: (redelivery.redelivered ?? redelivery.done) + step.redelivered,
        reached: step.reached ?? redelivery.reached,
        updated_at: now,
        ...(step.isLast ? { completed_at: now } : {}),
      });
      return true;
    });
  }

  /** Only the first delivery of a new endpoint is sent, however many are due. */
  function isBusy({ kind, waiting }: store.RunningRedelivery, endpoint: Endpoint | undefined): boolean {
    return waiting > MAX_WAITING && !(kind === 'waiting' && endpoint?.firstOnly);
  }

  /** Undefined when none of those that were checked can advance, and there may be others. */
  async function advanceNext(): Promise<boolean | undefined> {
    const checked = new Set<string>();
    while (checked.size < MAX_CHECKED_PER_STEP) {
      const next = await nextRunning();
      if (!next || checked.has(next.guid)) return false;
      checked.add(next.guid);
      lastChecked = next.guid;
      const [endpoint] = await subscriptions.endpoints([next.subscription_guid]);
      if (isBusy(next, endpoint)) continue;
      if (await advance(next.guid, endpoint)) return true;
    }
    return undefined;
  }

  return {
    preview: createPreview({ ...deps, eventWindows }),

    async create(
      actor: Actor,
      visible: Visible,
      input: Static<typeof NewRecovery>,
      recordAnswer: RecordAnswer<store.Redelivery> = recordNothing,
    ): Promise<store.Redelivery | Failure> {
      const now = clock.now();
      const { kind = 'failed' } = input;
      const window = windowOf(input, now);
      if (isFailure(window)) return window;
      const endpoint = await findDeliveringEndpoint(subscriptions, visible, input.subscription_guid);
      if (isFailure(endpoint)) return endpoint;
      const redelivery = await database.transaction(async (transaction) => {
        if ((await store.countRunning(transaction, endpoint.guid, MAX_RUNNING)) === MAX_RUNNING)
          return new Failure(
            'recovery_limit_reached',
            `Limit of running redeliveries per subscription reached (${MAX_RUNNING}); wait until one has ended`,
          );
        const wanted = {
          organization_guid: endpoint.organizationGuid,
          environment: endpoint.environment,
          subscription_guid: endpoint.guid,
          ...window,
        };
        const row: store.Redelivery = {
          guid: guids.next(),
          ...wanted,
          kind,
          total: await sources[kind].total(transaction, wanted),
          ...{ done: 0, redelivered: 0, reached: null },
          ...{ actor_type: actor.type, actor: actor.id },
          ...{ created_at: now, updated_at: now, completed_at: null, failed_at: null, cancelled_at: null },
        };
        await store.insertRedelivery(transaction, row);
        await audit.record(transaction, actor, {
          action: 'subscription_recovery.create',
          organizationGuid: row.organization_guid,
          objectType: 'subscription_recovery',
          objectId: row.guid,
          changes: {
            subscription_guid: endpoint.guid,
            kind,
            since: window.since.toISOString(),
            until: window.until.toISOString(),
          },
        });
        await recordAnswer(transaction, row);
        return row;
      });
      rest = undefined;
      createdCount += 1;
      return redelivery;
    },

    async get(visible: Visible, guid: string): Promise<store.Redelivery | Failure> {
      const redelivery = await store.selectRedelivery(queries, visible, guid);
      return redelivery ?? noSuchRedelivery();
    },

    async list(
      visible: Visible,
      page: Page,
      filters: RequestedFilters,
    ): Promise<PageOf<store.Redelivery> | Failure> {
      const state = knownValues('state', filters.state, store.REDELIVERY_STATES);
      if (isFailure(state)) return state;
      const kind = knownValues('kind', filters.kind, store.REDELIVERY_KINDS);
      if (isFailure(kind)) return kind;
      return store.selectRedeliveries(database.lists, visible, page, { ...filters, state, kind });
    },

    /** Deliveries that were created or made due before stay. A redelivery that has ended does not change. */
    cancel(actor: Actor, visible: Visible, guid: string): Promise<store.Redelivery | Failure> {
      return database.transaction(async (transaction) => {
        const redelivery = await store.lockRedelivery(transaction, visible, guid);
        if (!redelivery) return noSuchRedelivery();
        if (store.stateOf(redelivery) !== 'running') return redelivery;
        const now = clock.now();
        const changes = { failed_at: now, cancelled_at: now, updated_at: now };
        await store.updateRedelivery(transaction, guid, changes);
        await audit.record(transaction, actor, {
          action: 'subscription_recovery.cancel',
          organizationGuid: redelivery.organization_guid,
          objectType: 'subscription_recovery',
          objectId: guid,
          changes: { done: redelivery.done, total: redelivery.total },
        });
        return { ...redelivery, ...changes };
      });
    },

    /** Redelivers one batch of the next redelivery; returns whether there may be more. */
    async step(): Promise<boolean> {
      if (rest && !hasPassed(rest.ms, rest.since, clock.now().getTime())) return false;
      const countBefore = createdCount;
      const hasAdvanced = await advanceNext();
      if (hasAdvanced) return true;
      const ms = hasAdvanced === undefined ? SHORT_REST_MS : REST_MS;
      // One created meanwhile may have been missed.
      if (countBefore === createdCount) rest = { since: clock.now().getTime(), ms };
      return false;
    },

    /** Deletes redeliveries that ended before the retention; returns their number. */
    sweep(): Promise<number> {
      const before = new Date(clock.now().getTime() - retentionDays * DAY_MS);
      return store.deleteEnded(queries, before, MAX_SWEPT);
    },
  };
}

function noSuchRedelivery(): Failure {
  return new Failure('not_found', 'There is no such redelivery');
}
