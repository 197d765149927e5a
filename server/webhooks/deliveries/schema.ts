import Type, { type Static } from 'typebox';
import {
  EnvironmentName,
  Guid,
  inputSchema,
  Timestamp,
  viewSchema,
} from '../../infrastructure/http/requests/schemas.ts';
import {
  AttemptView,
  RequesterView,
  ResponseStatus,
  requesterOf,
  viewAttempt,
} from './attempts/attempt-schema.ts';
import { DELIVERY_STATES, type DeliveryWithState, type DetailedDelivery } from './state.ts';

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
const EventTypeName = Type.String({ example: 'transfer.completed' });

export const attemptedFilter = Type.Optional(
  Type.String({
    pattern: '^(true|false)$',
    description: 'true: deliveries with an attempt; false: without one, such as those never tried',
    example: 'true',
  }),
);

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
    requested_as: Type.Optional(
      Type.Enum(['redelivery', 'test_event', 'recovery'], {
        title: 'DeliveryRequestKind',
        description: 'Absent if the event itself created the delivery',
      }),
    ),
    requested_by: Type.Optional(RequesterView),
  },
  { title: 'Delivery', example: completedExample },
);

export const DetailedDeliveryView = Type.Object(
  {
    ...DeliveryView.properties,
    request_body: Type.String({
      description: 'The exact bytes of the body, the same in every attempt',
      example: '{"guid":"…"}',
    }),
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
  const requester = requesterOf(delivery);
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
    ...(delivery.requested_as === null ? {} : { requested_as: delivery.requested_as }),
    ...(requester && { requested_by: requester }),
  };
}

export function viewDetailedDelivery({
  attempts,
  requestBody,
  ...delivery
}: DetailedDelivery): Static<typeof DetailedDeliveryView> {
  return { ...viewDelivery(delivery), request_body: requestBody, attempts: attempts.map(viewAttempt) };
}
