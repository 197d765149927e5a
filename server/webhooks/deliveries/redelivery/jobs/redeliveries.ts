import type { Static } from 'typebox';
import type { Actor } from '../../../../infrastructure/audit/service.ts';
import type { Base } from '../../../../infrastructure/base.ts';
import type { Page, PageOf } from '../../../../infrastructure/database/paging/paging.ts';
import { type RecordAnswer, recordNothing } from '../../../../infrastructure/idempotency/record-answer.ts';
import { Failure, isFailure } from '../../../../infrastructure/runtime/failure.ts';
import type { Endpoint, Subscriptions } from '../../../subscriptions/service.ts';
import type { Visible } from '../../../visible.ts';
import type { Enqueue } from '../../queue/enqueue.ts';
import { findDeliveringEndpoint } from '../delivering-endpoints.ts';
import type { NewRecovery } from './redelivery-schema.ts';
import * as store from './redelivery-store.ts';

export type Redeliveries = ReturnType<typeof createRedeliveries>;
/** Filters with state names that are not validated yet. */
export type RequestedRedeliveryFilters = Omit<store.RedeliveryFilters, 'state'> & {
  state?: readonly string[] | undefined;
};

/** Failed deliveries of one transaction. */
const BATCH = 500;
/** A redelivery pauses while this many deliveries wait for its subscription, which bounds the queue. */
const MAX_WAITING = 5_000;
/** After a step that found no running redelivery. */
const REST_MS = 1_000;
/** Redeliveries checked in one step; busy subscriptions are skipped. */
const MAX_CHECKED_PER_STEP = 20;
const MAX_SWEPT = 1_000;
/** Per subscription. */
const MAX_RUNNING = 10;
const DAY_MS = 24 * 3_600_000;

type Deps = Base & {
  subscriptions: Subscriptions;
  enqueueFor: Enqueue['enqueueFor'];
  retentionDays: number;
};

/**
 * Bulk redelivery of all failed deliveries in a time window (API: subscription_recoveries). Progress commits with the
 * deliveries, so any node continues where another stopped, and nothing is redelivered twice.
 */
export function createRedeliveries(deps: Deps) {
  const { database, clock, guids, audit, subscriptions, enqueueFor, retentionDays } = deps;
  const { queries } = database;
  let restUntil = 0;
  /** Steps take turns: each starts after the redelivery of the previous one. */
  let lastChecked: string | undefined;

  async function nextRunning(): Promise<store.RunningRedelivery | undefined> {
    const next = await store.selectRunning(queries, lastChecked, MAX_WAITING + 1);
    if (next || lastChecked === undefined) return next;
    lastChecked = undefined;
    return store.selectRunning(queries, undefined, MAX_WAITING + 1);
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
      const failed = await store.selectFailed(transaction, redelivery, BATCH);
      const events = failed.filter(({ superseded }) => !superseded).map(({ event }) => event);
      await enqueueFor(transaction, endpoint, events);
      const done = redelivery.done + failed.length;
      const isLast = failed.length < BATCH;
      await store.updateRedelivery(transaction, guid, {
        done,
        // The total may differ by expired history and outcomes recorded late.
        total: isLast ? done : Math.max(redelivery.total, done),
        reached: failed.at(-1)?.guid ?? redelivery.reached,
        updated_at: now,
        ...(isLast ? { completed_at: now } : {}),
      });
      return true;
    });
  }

  return {
    async create(
      actor: Actor,
      visible: Visible,
      input: Static<typeof NewRecovery>,
      recordAnswer: RecordAnswer<store.Redelivery> = recordNothing,
    ): Promise<store.Redelivery | Failure> {
      const now = clock.now();
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
        const failed = { subscription_guid: endpoint.guid, ...window };
        const row: store.Redelivery = {
          guid: guids.next(),
          organization_guid: endpoint.organizationGuid,
          environment: endpoint.environment,
          ...failed,
          total: await store.countFailed(transaction, failed),
          done: 0,
          reached: null,
          created_at: now,
          updated_at: now,
          completed_at: null,
          failed_at: null,
        };
        await store.insertRedelivery(transaction, row);
        await audit.record(transaction, actor, {
          action: 'subscription_recovery.create',
          organizationGuid: row.organization_guid,
          objectType: 'subscription_recovery',
          objectId: row.guid,
          changes: {
            subscription_guid: endpoint.guid,
            since: window.since.toISOString(),
            until: window.until.toISOString(),
          },
        });
        await recordAnswer(transaction, row);
        return row;
      });
      restUntil = 0;
      return redelivery;
    },

    async get(visible: Visible, guid: string): Promise<store.Redelivery | Failure> {
      const redelivery = await store.selectRedelivery(queries, visible, guid);
      return redelivery ?? new Failure('not_found', 'There is no such redelivery');
    },

    async list(
      visible: Visible,
      page: Page,
      { state, ...filters }: RequestedRedeliveryFilters,
    ): Promise<PageOf<store.Redelivery> | Failure> {
      const unknown = state?.find((name) => !isRedeliveryState(name));
      if (unknown !== undefined)
        return new Failure(
          'invalid_parameter',
          `state must be one of ${store.REDELIVERY_STATES.join(', ')}; got ${unknown}`,
        );
      return store.selectRedeliveries(database.lists, visible, page, {
        ...filters,
        state: state?.filter(isRedeliveryState),
      });
    },

    /** Redelivers one batch of the next redelivery; returns whether there may be more. */
    async step(): Promise<boolean> {
      if (clock.now().getTime() < restUntil) return false;
      const checked = new Set<string>();
      while (checked.size < MAX_CHECKED_PER_STEP) {
        const next = await nextRunning();
        if (!next && checked.size === 0) restUntil = clock.now().getTime() + REST_MS;
        if (!next || checked.has(next.guid)) return false;
        checked.add(next.guid);
        lastChecked = next.guid;
        if (next.waiting > MAX_WAITING) continue;
        const [endpoint] = await subscriptions.endpoints([next.subscription_guid]);
        if (await advance(next.guid, endpoint)) return true;
      }
      return false;
    },

    /** Deletes redeliveries that ended before the retention; returns their number. */
    sweep(): Promise<number> {
      const before = new Date(clock.now().getTime() - retentionDays * DAY_MS);
      return store.deleteEnded(queries, before, MAX_SWEPT);
    },
  };
}

function windowOf(input: Static<typeof NewRecovery>, now: Date): { since: Date; until: Date } | Failure {
  const since = new Date(input.since);
  const until = new Date(input.until ?? now);
  // The schema accepts leap seconds, which `Date` cannot parse.
  for (const [name, moment] of Object.entries({ since, until }))
    if (Number.isNaN(moment.getTime()))
      return new Failure(
        'invalid_parameter',
        `${name} must be an ISO 8601 date-time, for example 2026-11-15T00:00:00Z`,
      );
  const end = until < now ? until : now;
  if (since >= end) return new Failure('invalid_parameter', 'since must be before until, and before now');
  return { since, until: end };
}

function isRedeliveryState(name: string): name is store.RedeliveryState {
  return store.REDELIVERY_STATES.some((state) => state === name);
}
