import Type, { type Static } from 'typebox';
import {
  environmentsFilter,
  guidsFilter,
  wordsFilter,
} from '../../../infrastructure/http/requests/filters.ts';
import {
  EnvironmentName,
  Guid,
  strictObject,
  Timestamp,
  viewSchema,
} from '../../../infrastructure/http/requests/schemas.ts';
import { SubscriptionView } from '../../subscriptions/schema.ts';
import { RangeName } from '../statistics/statistics-schema.ts';
import { HEALTHS, PERIOD_HEALTHS, TIMELINE_CHANGES } from './health-states.ts';
import { waitingFields } from './waiting-schema.ts';

export const healthFilters = {
  guid: Type.Optional({
    ...guidsFilter,
    description: 'One guid of a subscription, or several separated by commas',
  }),
  state: Type.Optional({
    ...wordsFilter,
    description: 'State of the subscription, or several separated by commas',
  }),
  environment: environmentsFilter,
};

const kind = Type.Enum(['rejected', 'timeout', 'unreachable'], {
  title: 'EndpointErrorKind',
  description: 'rejected: a status other than 2xx; timeout: no answer in time; unreachable: no connection',
  example: 'rejected',
});
const status = Type.Optional(Type.Integer({ description: 'Status of the response', example: 500 }));

const LastError = viewSchema('EndpointError', {
  at: { ...Timestamp, description: 'When the attempt ended' },
  kind,
  status,
  excerpt: Type.Optional(
    Type.String({
      description: 'First characters of the response',
      example: 'database connection pool exhausted',
    }),
  ),
  reason: Type.Optional(
    Type.String({ description: 'Why there was no response', example: 'connection refused' }),
  ),
  delivery_guid: { ...Guid, description: 'The delivery of the attempt' },
  attempt_number: Type.Integer({ description: 'Number of the attempt within its delivery', example: 3 }),
});

export const HealthView = viewSchema('EndpointHealth', {
  subscription_guid: Guid,
  name: Type.String({ example: 'Order service' }),
  host: Type.String({ description: 'Host of the url, without its path', example: 'partner.example' }),
  environment: EnvironmentName,
  state: SubscriptionView.properties.state,
  health: Type.Enum([...HEALTHS], {
    title: 'EndpointHealthState',
    description:
      'healthy: the last attempt succeeded; failing: it did not, and retries continue; inactive: no 2xx yet; ' +
      'paused: deliveries wait; disabled: by the operator; failed: deliveries have failed for too long',
    example: 'failing',
  }),
  failing_since: Type.Optional({ ...Timestamp, description: 'First failure since the last success' }),
  recovered_at: Type.Optional({
    ...Timestamp,
    description: 'Last success after failures; absent while failing',
  }),
  ...waitingFields,
  next_attempt_at: Type.Optional({
    ...Timestamp,
    description:
      'Next attempt of a waiting delivery; absent while all of them are being sent, and when none is',
  }),
  last_error: Type.Optional(LastError),
  errors: Type.Array(
    viewSchema('EndpointErrorCount', { kind, status, count: Type.Integer({ example: 1_203 }) }),
    { description: 'Failed attempts since failing_since by kind and status, most frequent first' },
  ),
});

export const TimelineQuery = strictObject({ range: Type.Optional({ ...RangeName, default: '24h' }) });

export const TimelineView = viewSchema('EndpointTimeline', {
  range: RangeName,
  periods: Type.Array(
    viewSchema('EndpointPeriod', {
      from: Timestamp,
      to: Timestamp,
      health: Type.Enum([...PERIOD_HEALTHS], {
        title: 'EndpointPeriodHealth',
        description:
          'As in EndpointHealth; partly_failing: some attempts failed, others succeeded; unknown: no attempt yet',
        example: 'healthy',
      }),
    }),
    {
      description:
        'Without gaps, oldest first; exact to 1/60 of an hour, 5 minutes of a day, 30 minutes of a week',
    },
  ),
  changes: Type.Array(
    viewSchema('EndpointChange', {
      at: Timestamp,
      kind: Type.Enum([...TIMELINE_CHANGES], {
        title: 'EndpointChangeKind',
        description: 'What changed',
        example: 'recovered',
      }),
    }),
    { description: 'Oldest first' },
  ),
});

export type HealthViewed = Static<typeof HealthView>;
export type Timeline = Static<typeof TimelineView>;
