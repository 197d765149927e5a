import Type, { type Static } from 'typebox';
import {
  EnvironmentName,
  Guid,
  inputSchema,
  Timestamp,
  viewSchema,
} from '../../infrastructure/http/requests/schemas.ts';
import { SLOW_MS } from './queue/lanes/limit.ts';
import {
  DELIVERY_STATES,
  type DeliveryWithState,
  type DetailedDelivery,
  type StoredAttempt,
} from './state.ts';

const DeliveryStateName = Type.Enum([...DELIVERY_STATES], {
  title: 'DeliveryState',
  description: 'storing: being delivered; failing: attempts have failed for 10 seconds and continue',
  example: 'completed',
});
const FailureKind = Type.Enum(['timeout', 'unreachable', 'rejected'], {
  title: 'DeliveryFailureKind',
  description:
    'Failure of the last attempt: no response in time, no connection, or a response other than 2xx',
});
const ResponseStatus = Type.Integer({ description: 'HTTP status of the response', example: 200 });
const EventTypeName = Type.String({ example: 'transfer.completed' });

export const NewDelivery = inputSchema('NewDelivery', {
  subscription_event_guid: { ...Guid, description: 'The event to deliver again' },
  subscription_guid: { ...Guid, description: 'The subscription to deliver it to' },
});

const completedExample = {
  response_status: 200,
  response_time_ms: 87,
  completed_at: '2026-11-15T12:00:00.087Z',
};

export const DeliveryView = Type.Object(
  {
    guid: Guid,
    subscription_guid: Guid,
    subscription_event_guid: Guid,
    event_type: EventTypeName,
    environment: EnvironmentName,
    state: DeliveryStateName,
    attempt_count: Type.Integer({ description: 'Attempts so far', example: 1 }),
    next_attempt_at: Type.Optional({
      ...Timestamp,
      description:
        'Time of the next attempt; absent once completed or failed, and while the endpoint has not answered 2xx yet',
    }),
    failure_kind: Type.Optional(FailureKind),
    response_status: Type.Optional(ResponseStatus),
    response_time_ms: Type.Optional(
      Type.Integer({ description: 'Duration of the last attempt in milliseconds', example: 87 }),
    ),
    created_at: Timestamp,
    updated_at: Timestamp,
    completed_at: Type.Optional(Timestamp),
    failed_at: Type.Optional(Timestamp),
  },
  { title: 'Delivery', example: completedExample },
);

const AttemptView = Type.Object(
  {
    number: Type.Integer({ description: 'Number of the attempt, from 1' }),
    attempted_at: Timestamp,
    duration_ms: Type.Integer({ description: 'Duration in milliseconds', example: 87 }),
    outcome: Type.Enum(['completed', 'timeout', 'unreachable', 'rejected'], {
      title: 'DeliveryOutcome',
      description: 'completed, or the kind of failure',
    }),
    response_status: Type.Optional(ResponseStatus),
    response_excerpt: Type.Optional(
      Type.String({ description: 'The first 1 KB of the response', example: 'ok' }),
    ),
    reason: Type.Optional(
      Type.String({ description: 'Why there was no response', example: 'connection refused' }),
    ),
    slow: Type.Boolean({ description: 'Whether the attempt took longer than 2 seconds' }),
  },
  { title: 'DeliveryAttempt', example: { response_status: 200, response_excerpt: 'ok' } },
);

export const DetailedDeliveryView = Type.Object(
  {
    ...DeliveryView.properties,
    attempts: Type.Array(AttemptView, {
      description: 'The last 100 attempts, oldest first; attempt_count counts all of them',
    }),
  },
  { title: 'DeliveryWithAttempts', example: completedExample },
);

/** Not paged: the number of subscriptions of an Organization that deliver is limited. */
export const TargetsView = viewSchema('SubscriptionTargetList', {
  objects: Type.Array(
    viewSchema('SubscriptionTarget', { subscription_guid: Guid, environment: EnvironmentName }),
  ),
});

export function viewDelivery(delivery: DeliveryWithState): Static<typeof DeliveryView> {
  const { due_at: dueAt, failure_kind, response_status, response_time_ms } = delivery;
  const { completed_at: completedAt, failed_at: failedAt } = delivery;
  return {
    guid: delivery.guid,
    subscription_guid: delivery.subscription_guid,
    subscription_event_guid: delivery.event_guid,
    event_type: delivery.event_type,
    environment: delivery.environment,
    state: delivery.state,
    attempt_count: delivery.attempt_count,
    ...(dueAt === null ? {} : { next_attempt_at: dueAt.toISOString() }),
    ...(failure_kind === null ? {} : { failure_kind }),
    ...(response_status === null ? {} : { response_status }),
    ...(response_time_ms === null ? {} : { response_time_ms }),
    created_at: delivery.created_at.toISOString(),
    updated_at: delivery.updated_at.toISOString(),
    ...(completedAt === null ? {} : { completed_at: completedAt.toISOString() }),
    ...(failedAt === null ? {} : { failed_at: failedAt.toISOString() }),
  };
}

export function viewDetailedDelivery({
  attempts,
  ...delivery
}: DetailedDelivery): Static<typeof DetailedDeliveryView> {
  return { ...viewDelivery(delivery), attempts: attempts.map(viewAttempt) };
}

function viewAttempt(attempt: StoredAttempt): Static<typeof AttemptView> {
  const { number, duration_ms, outcome, response_status, response_excerpt, reason } = attempt;
  return {
    number,
    attempted_at: attempt.attempted_at.toISOString(),
    duration_ms,
    outcome,
    ...(response_status === null ? {} : { response_status }),
    ...(response_excerpt === null ? {} : { response_excerpt }),
    ...(reason === null ? {} : { reason }),
    slow: duration_ms > SLOW_MS,
  };
}
