import Type, { type Static } from 'typebox';
import {
  EnvironmentName,
  Guid,
  strictObject,
  Timestamp,
} from '../../infrastructure/http/requests/schemas.ts';
import { SLOW_MS } from './queue/lanes/limit.ts';
import {
  DELIVERY_STATES,
  type DeliveryWithState,
  type DetailedDelivery,
  type StoredAttempt,
} from './state.ts';

const DeliveryStateName = Type.Enum([...DELIVERY_STATES], {
  description: 'storing: being delivered; failing: attempts have failed for 10 seconds and are retried',
});
const FailureKind = Type.Enum(['timeout', 'unreachable', 'rejected'], {
  description: 'of the last attempt: no response in time, no connection, or a response that is not 2xx',
});
const ResponseStatus = Type.Integer({ description: 'HTTP status of the response' });

export const NewDelivery = strictObject({
  subscription_event_guid: { ...Guid, description: 'event to redeliver' },
  subscription_guid: { ...Guid, description: 'subscription to deliver it to' },
});

export const DeliveryView = Type.Object({
  guid: Guid,
  subscription_guid: Guid,
  subscription_event_guid: Guid,
  event_type: Type.String(),
  environment: EnvironmentName,
  state: DeliveryStateName,
  attempt_count: Type.Integer({ description: 'attempts so far' }),
  next_attempt_at: Type.Optional({
    ...Timestamp,
    description: 'absent once completed or failed, and while it waits for the first 2xx of its endpoint',
  }),
  failure_kind: Type.Optional(FailureKind),
  response_status: Type.Optional(ResponseStatus),
  response_time_ms: Type.Optional(Type.Integer({ description: 'duration of the last attempt' })),
  created_at: Timestamp,
  updated_at: Timestamp,
  completed_at: Type.Optional(Timestamp),
  failed_at: Type.Optional(Timestamp),
});

const AttemptView = Type.Object({
  number: Type.Integer({ description: 'from 1' }),
  attempted_at: Timestamp,
  duration_ms: Type.Integer(),
  outcome: Type.Enum(['completed', 'timeout', 'unreachable', 'rejected'], {
    description: 'completed, or how it failed',
  }),
  response_status: Type.Optional(ResponseStatus),
  response_excerpt: Type.Optional(Type.String({ description: 'the first 1 KB of the response' })),
  reason: Type.Optional(Type.String({ description: 'why there was no response' })),
  slow: Type.Boolean({ description: 'took longer than the 2 seconds that an endpoint has' }),
});

export const DetailedDeliveryView = Type.Object({
  ...DeliveryView.properties,
  attempts: Type.Array(AttemptView, {
    description: 'the last 100, oldest first; attempt_count is the total',
  }),
});

/** Not paged: the number of subscriptions that deliver is limited. */
export const TargetsView = Type.Object({
  objects: Type.Array(Type.Object({ subscription_guid: Guid, environment: EnvironmentName })),
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
