import type { Database } from '../../../infrastructure/database/database.ts';
import type { Clock } from '../../../infrastructure/runtime/clock.ts';
import type { EventCounters, Window } from '../../events/counters.ts';
import type { Subscriptions } from '../../subscriptions/service.ts';
import { type Visible, visibleEnvironments } from '../../visible.ts';
import { NONE_WAITING, readWaiting, type Waiting } from '../health/waiting.ts';
import { viewWaiting } from '../health/waiting-schema.ts';
import { percentileMs } from './percentile.ts';
import { RANGES, type Range, type Statistics } from './statistics-schema.ts';
import { type StepCounts, selectStepCounts } from './statistics-store.ts';

export type DeliveryStatistics = ReturnType<typeof createDeliveryStatistics>;

type Deps = { database: Database; clock: Clock; subscriptions: Subscriptions; eventCounters: EventCounters };
type Query = {
  range: Range;
  subscriptionGuid: readonly string[] | undefined;
  environment: readonly string[] | undefined;
};
type Counts = Omit<StepCounts, 'subscription_guid' | 'at'>;

const MEDIAN = 0.5;
const NEARLY_ALL = 0.99;

export function createDeliveryStatistics({ database, clock, subscriptions, eventCounters }: Deps) {
  return {
    /** The waiting deliveries of each subscription of an Organization, in both environments. */
    async waiting(organizationGuid: string): Promise<Map<string, Waiting>> {
      const environments = visibleEnvironments({ organizationGuid }, undefined);
      const deletedAfter = clock.now();
      const guids = await subscriptions.guidsOf({ organizationGuid, environments, deletedAfter });
      return readWaiting({ database, clock }, guids);
    },

    async read(visible: Visible, { range, subscriptionGuid, environment }: Query): Promise<Statistics> {
      const { organizationGuid } = visible;
      const environments = visibleEnvironments(visible, environment);
      const window = windowOf(range, clock.now());
      // Subscriptions deleted during the window are included.
      const owned = await subscriptions.guidsOf({
        organizationGuid,
        environments,
        deletedAfter: window.from,
      });
      const guids = owned.filter((guid) => subscriptionGuid?.includes(guid) ?? true).reverse();
      const [steps, events, waiting] = await Promise.all([
        guids.length === 0 ? [] : selectStepCounts(database.lists, guids, window),
        environments.length === 0 ? [] : eventCounters.read(organizationGuid, environments, window),
        readWaiting({ database, clock }, guids),
      ]);
      const bySubscription = Map.groupBy(steps, (step) => step.subscription_guid);
      const byStep = Map.groupBy(steps, (step) => step.at.getTime());
      const eventsAt = new Map(events.map((step) => [step.at.getTime(), step.events]));
      return {
        range,
        step_seconds: window.stepSeconds,
        totals: {
          ...viewCounts(steps),
          events: events.reduce((sum, step) => sum + step.events, 0),
          ...viewQuality(steps),
          ...viewDelivered(steps, [...waiting.values()]),
          ...viewWaiting([...waiting.values()]),
        },
        subscriptions: guids.map((subscription_guid) => {
          const own = bySubscription.get(subscription_guid) ?? [];
          const ownWaiting = [waiting.get(subscription_guid) ?? NONE_WAITING];
          return {
            ...{ subscription_guid, ...viewCounts(own), ...viewQuality(own) },
            ...viewDelivered(own, ownWaiting),
            ...viewWaiting(ownWaiting),
          };
        }),
        points: stepsOf(window).map((at) => ({
          at: new Date(at).toISOString(),
          ...viewCounts(byStep.get(at) ?? []),
          events: eventsAt.get(at) ?? 0,
        })),
      };
    },
  };
}

/** Whole steps, so that a redrawn chart keeps its points; the last step is the current one. */
export function windowOf(range: Range, now: Date): Window {
  const { stepSeconds, steps } = RANGES[range];
  const stepMs = stepSeconds * 1_000;
  const to = (Math.floor(now.getTime() / stepMs) + 1) * stepMs;
  return { from: new Date(to - steps * stepMs), to: new Date(to), stepSeconds };
}

function stepsOf({ from, to, stepSeconds }: Window): number[] {
  const stepMs = stepSeconds * 1_000;
  const steps = (to.getTime() - from.getTime()) / stepMs;
  return Array.from({ length: steps }, (_, step) => from.getTime() + step * stepMs);
}

function viewCounts(counted: readonly Counts[]) {
  return {
    completed: sumOfCounts(counted, 'completed'),
    failed_attempts: sumOfCounts(counted, 'failed_attempts'),
  };
}

function sumOfCounts(counted: readonly Counts[], name: Exclude<keyof Counts, 'response_times'>): number {
  return counted.reduce((sum, counts) => sum + counts[name], 0);
}

/** Deliveries on their way are not due yet: with them an endpoint that keeps up would never have all. */
function viewDelivered(counted: readonly Counts[], waiting: readonly Waiting[]) {
  const completed = sumOfCounts(counted, 'completed');
  const failed = sumOfCounts(counted, 'failed');
  const due = completed + failed + waiting.reduce((sum, { lateCount }) => sum + lateCount, 0);
  return {
    due,
    failed,
    completed_first_attempt: completed - sumOfCounts(counted, 'completed_by_retry'),
    timeouts: sumOfCounts(counted, 'timeouts'),
    ...(due === 0 ? {} : { delivered_rate: completed / due }),
  };
}

function viewQuality(counted: readonly Counts[]) {
  const { completed, failed_attempts: failed } = viewCounts(counted);
  if (completed + failed === 0) return {};
  const success_rate = completed / (completed + failed);
  const responseTimes = sumOf(counted.map((counts) => counts.response_times));
  const timeouts = sumOfCounts(counted, 'timeouts');
  const p50_ms = percentileMs(responseTimes, MEDIAN, timeouts);
  const p99_ms = percentileMs(responseTimes, NEARLY_ALL, timeouts);
  return {
    success_rate,
    ...(p50_ms === undefined ? {} : { p50_ms }),
    ...(p99_ms === undefined ? {} : { p99_ms }),
  };
}

function sumOf(histograms: readonly (readonly number[])[]): number[] {
  const sums: number[] = [];
  for (const histogram of histograms)
    for (const [bucket, count] of histogram.entries()) sums[bucket] = (sums[bucket] ?? 0) + count;
  return sums;
}
