import Type, { type Static } from 'typebox';
import { environmentsFilter, guidsFilter } from '../../../infrastructure/http/requests/filters.ts';
import { Guid, strictObject, Timestamp, viewSchema } from '../../../infrastructure/http/requests/schemas.ts';

import { waitingFields } from '../health/waiting-schema.ts';

/** The last step of a range is the current one. */
export const RANGES = {
  '1h': { stepSeconds: 60, steps: 60 },
  '24h': { stepSeconds: 15 * 60, steps: 96 },
  '7d': { stepSeconds: 2 * 3_600, steps: 84 },
} as const;

export type Range = keyof typeof RANGES;

export const RangeName = Type.Enum(Object.keys(RANGES) as Range[], {
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
const delivered = {
  due: Type.Integer({
    description: 'completed, failed and the deliveries that have waited for more than 10 seconds',
    example: 1_207,
  }),
  delivered_rate: Type.Optional(
    Type.Number({
      description: 'completed of those due, from 0 to 1; absent when none is due',
      example: 0.9975,
    }),
  ),
  completed_first_attempt: Type.Integer({
    description: 'Of the completed ones, deliveries by the first attempt',
    example: 1_200,
  }),
  failed: Type.Integer({ description: 'Deliveries that failed for good', example: 1 }),
  timeouts: Type.Integer({ description: 'Attempts without an answer in time', example: 2 }),
};
const quality = {
  success_rate: Type.Optional(
    Type.Number({
      description: 'Share of successful attempts, from 0 to 1; absent without attempts',
      example: 0.9975,
    }),
  ),
  p50_ms: Type.Optional(
    Type.Integer({
      description: 'Estimated median duration of successful attempts and timeouts',
      example: 42,
    }),
  ),
  p99_ms: Type.Optional(
    Type.Integer({
      description: 'Estimated 99th percentile duration of successful attempts and timeouts',
      example: 310,
    }),
  ),
};

export const StatisticsView = viewSchema('DeliveryStatistics', {
  range: RangeName,
  step_seconds: Type.Integer({ description: 'Length of a step in seconds', example: 60 }),
  totals: viewSchema('StatisticsTotals', { ...counts, events, ...delivered, ...quality, ...waitingFields }),
  subscriptions: Type.Array(
    viewSchema('SubscriptionStatistics', {
      subscription_guid: Guid,
      ...counts,
      ...delivered,
      ...quality,
      ...waitingFields,
    }),
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
