import Type, { type Static } from 'typebox';
import { environmentsFilter, guidsFilter } from '../../../infrastructure/http/requests/filters.ts';
import { Guid, strictObject, Timestamp, viewSchema } from '../../../infrastructure/http/requests/schemas.ts';

import { MAX_COUNTED_WAITING } from '../health/waiting.ts';

/** The last step of a range is the current one. */
export const RANGES = {
  '1h': { stepSeconds: 60, steps: 60 },
  '24h': { stepSeconds: 15 * 60, steps: 96 },
  '7d': { stepSeconds: 2 * 3_600, steps: 84 },
} as const;

export type Range = keyof typeof RANGES;

const RangeName = Type.Enum(Object.keys(RANGES) as Range[], {
  title: 'StatisticsRange',
  description: '1h in steps of a minute, 24h of 15 minutes, 7d of two hours',
});

export const StatisticsQuery = strictObject({
  range: Type.Optional({ ...RangeName, default: '1h' }),
  subscription_guid: guidsFilter,
  environment: environmentsFilter,
});

const counts = {
  completed: Type.Integer({ description: 'Deliveries that the endpoint answered with 2xx', example: 1_204 }),
  failed_attempts: Type.Integer({ description: 'Failed attempts, including retries', example: 3 }),
};
const events = Type.Integer({
  description: 'Events of the Organization in these environments, for all subscriptions',
  example: 602,
});
const quality = {
  success_rate: Type.Optional(
    Type.Number({
      description: 'Share of successful attempts, from 0 to 1; absent without attempts',
      example: 0.9975,
    }),
  ),
  p50_ms: Type.Optional(
    Type.Integer({ description: 'Estimated median duration of successful attempts', example: 42 }),
  ),
  p99_ms: Type.Optional(
    Type.Integer({ description: 'Estimated 99th percentile duration of successful attempts', example: 310 }),
  ),
};

const waiting = {
  waiting: Type.Integer({
    description: 'Deliveries that have neither arrived nor failed for good, now, including those never tried',
    example: 1_203,
  }),
  waiting_is_minimum: Type.Boolean({
    description: `Whether more may wait: of each subscription at most ${MAX_COUNTED_WAITING.toLocaleString('en')} are counted`,
  }),
  oldest_waiting_at: Type.Optional({
    ...Timestamp,
    description: 'Creation of the oldest waiting delivery; absent when none waits',
  }),
};

export const StatisticsView = viewSchema('DeliveryStatistics', {
  range: RangeName,
  step_seconds: Type.Integer({ description: 'Length of a step in seconds', example: 60 }),
  totals: viewSchema('StatisticsTotals', { ...counts, events, ...quality, ...waiting }),
  subscriptions: Type.Array(
    viewSchema('SubscriptionStatistics', { subscription_guid: Guid, ...counts, ...quality, ...waiting }),
    { description: 'Newest first, including subscriptions without deliveries' },
  ),
  points: Type.Array(
    viewSchema('StatisticsPoint', {
      at: { ...Timestamp, description: 'Start of the step' },
      ...counts,
      events,
    }),
    { description: 'Every step, oldest first; the last step is not over yet' },
  ),
});

export type Statistics = Static<typeof StatisticsView>;
