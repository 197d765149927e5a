import Type, { type Static } from 'typebox';
import {
  EnvironmentName,
  Guid,
  inputSchema,
  Timestamp,
} from '../../../../infrastructure/http/requests/schemas.ts';
import { REDELIVERY_STATES, type Redelivery, type RedeliveryState } from './redelivery-store.ts';

const RecoveryStateName = Type.Enum([...REDELIVERY_STATES], {
  title: 'RecoveryState',
  description: 'running; completed; or failed, because the subscription stopped delivering meanwhile',
  example: 'completed',
});

export const NewRecovery = inputSchema('NewRecovery', {
  subscription_guid: Guid,
  since: {
    ...Timestamp,
    description: 'Redeliver failed deliveries created at or after this time',
    example: '2026-11-01T00:00:00.000Z',
  },
  until: Type.Optional({
    ...Timestamp,
    description: 'Redeliver failed deliveries created before this time. Default and latest value: now',
  }),
});

export const RecoveryView = Type.Object(
  {
    guid: Guid,
    subscription_guid: Guid,
    environment: EnvironmentName,
    since: Timestamp,
    until: Timestamp,
    state: RecoveryStateName,
    total: Type.Integer({ description: 'Failed deliveries in the time range', example: 128 }),
    done: Type.Integer({
      description: 'Deliveries processed so far: sent again, or found already sent again',
      example: 128,
    }),
    created_at: Timestamp,
    updated_at: Timestamp,
    completed_at: Type.Optional(Timestamp),
    failed_at: Type.Optional(Timestamp),
  },
  {
    title: 'Recovery',
    example: { since: '2026-11-01T00:00:00.000Z', completed_at: '2026-11-15T12:00:02.000Z' },
  },
);

export function viewRedelivery(redelivery: Redelivery): Static<typeof RecoveryView> {
  const { completed_at: completedAt, failed_at: failedAt } = redelivery;
  return {
    guid: redelivery.guid,
    subscription_guid: redelivery.subscription_guid,
    environment: redelivery.environment,
    since: redelivery.since.toISOString(),
    until: redelivery.until.toISOString(),
    state: stateOf(redelivery),
    total: redelivery.total,
    done: redelivery.done,
    created_at: redelivery.created_at.toISOString(),
    updated_at: redelivery.updated_at.toISOString(),
    ...(completedAt === null ? {} : { completed_at: completedAt.toISOString() }),
    ...(failedAt === null ? {} : { failed_at: failedAt.toISOString() }),
  };
}

function stateOf({ completed_at: completedAt, failed_at: failedAt }: Redelivery): RedeliveryState {
  if (completedAt !== null) return 'completed';
  return failedAt === null ? 'running' : 'failed';
}
