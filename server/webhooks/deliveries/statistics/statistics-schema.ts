import Type, { type Static } from 'typebox';
import { environmentsFilter, guidsFilter } from '../../../infrastructure/http/requests/filters.ts';
import { Guid, strictObject, Timestamp } from '../../../infrastructure/http/requests/schemas.ts';

/** The last step of a range is the current one. */
export const RANGES = {
  '1h': { stepSeconds: 60, steps: 60 },
  '24h': { stepSeconds: 15 * 60, steps: 96 },
  '7d': { stepSeconds: 2 * 3_600, steps: 84 },
} as const;

export type Range = keyof typeof RANGES;

const RangeName = Type.Enum(Object.keys(RANGES) as Range[], {
  description: '1h in minutes, 24h in quarters of an hour, 7d in steps of two hours',
});

export const StatisticsQuery = strictObject({
  range: Type.Optional({ ...RangeName, default: '1h' }),
  subscription_guid: guidsFilter,
  environment: environmentsFilter,
});

const counts = {
  completed: Type.Integer({ description: 'deliveries that the endpoint answered with 2xx' }),
  failed_attempts: Type.Integer({ description: 'attempts that failed, retries included' }),
};
const events = Type.Integer({
  description: 'events of the Organization in these environments, whatever the subscription filter',
});
const quality = {
  success_rate: Type.Optional(
    Type.Number({ description: 'share of successful attempts, from 0 to 1; absent without attempts' }),
  ),
  p50_ms: Type.Optional(
    Type.Integer({ description: 'estimated median response time of successful attempts' }),
  ),
  p99_ms: Type.Optional(
    Type.Integer({ description: 'estimated 99th percentile of the response time of successful attempts' }),
  ),
};

export const StatisticsView = Type.Object({
  range: RangeName,
  step_seconds: Type.Integer(),
  totals: Type.Object({ ...counts, events, ...quality }),
  subscriptions: Type.Array(Type.Object({ subscription_guid: Guid, ...counts, ...quality }), {
    description: 'newest first, including subscriptions without deliveries',
  }),
  points: Type.Array(
    Type.Object({ at: { ...Timestamp, description: 'start of the step' }, ...counts, events }),
    { description: 'every step, oldest first; the last one is the current step' },
  ),
});

export type Statistics = Static<typeof StatisticsView>;
