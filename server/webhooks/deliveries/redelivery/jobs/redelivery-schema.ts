import Type, { type Static } from 'typebox';
import {
  EnvironmentName,
  Guid,
  inputSchema,
  strictObject,
  Timestamp,
  viewSchema,
} from '../../../../infrastructure/http/requests/schemas.ts';
import {
  REDELIVERY_KINDS,
  REDELIVERY_STATES,
  type Redelivery,
  stateOf,
  type Window,
} from './redelivery-store.ts';
import type { WaitingCounts } from './waiting-store.ts';

const RecoveryStateName = Type.Enum([...REDELIVERY_STATES], {
  title: 'RecoveryState',
  description:
    'running; completed; failed, because the subscription stopped delivering meanwhile; or cancelled by DELETE',
  example: 'completed',
});

const RecoveryKindName = Type.Enum([...REDELIVERY_KINDS], {
  title: 'RecoveryKind',
  description:
    'failed: failed deliveries are sent again. waiting: deliveries that wait for their next attempt are sent now, except during a Retry-After. all: all events are sent again, with the same webhook-id, except waiting ones',
  example: 'failed',
});

const Since = {
  ...Timestamp,
  description: 'Deliveries, or for kind all events, created at or after this time',
  example: '2026-11-01T00:00:00.000Z',
};
const Until = Type.Optional({
  ...Timestamp,
  description: 'Deliveries, or for kind all events, created before this time. Default and latest value: now',
});

export const NewRecovery = inputSchema('NewRecovery', {
  subscription_guid: Guid,
  kind: Type.Optional({ ...RecoveryKindName, default: 'failed' }),
  since: Since,
  until: Until,
});

export const PreviewParams = strictObject({ subscription_guid: Guid });
export const PreviewQuery = strictObject({
  since: Type.Optional({ ...Since, description: `${Since.description}. Default: 24 hours before now` }),
  until: Until,
});

export const RecoveryView = Type.Object(
  {
    guid: Guid,
    subscription_guid: Guid,
    environment: EnvironmentName,
    kind: RecoveryKindName,
    since: Timestamp,
    until: Timestamp,
    state: RecoveryStateName,
    total: Type.Integer({
      description:
        'Deliveries or events in the time range. From 10,000 events on an estimate until the job has completed',
      example: 128,
    }),
    done: Type.Integer({
      description: 'Deliveries or events processed so far: sent, or skipped',
      example: 128,
    }),
    redelivered: Type.Optional(
      Type.Integer({
        description:
          'Deliveries created or, for kind waiting, made due so far. 0 in a completed job: there was nothing to redeliver',
        example: 126,
      }),
    ),
    actor_type: Type.Optional(
      Type.String({ description: 'Who created it: application, user or operator', example: 'user' }),
    ),
    actor: Type.Optional(
      Type.String({
        description: 'The client_id or the guid of the member',
        example: '0199e5a4c1b27d3e8f60a1b2c3d4e5f6',
      }),
    ),
    created_at: Timestamp,
    updated_at: Timestamp,
    completed_at: Type.Optional(Timestamp),
    failed_at: Type.Optional(Timestamp),
    cancelled_at: Type.Optional(Timestamp),
  },
  {
    title: 'Recovery',
    example: { since: '2026-11-01T00:00:00.000Z', completed_at: '2026-11-15T12:00:02.000Z' },
  },
);

export type RedeliveryPreview = Window & WaitingCounts & { failed: number; all: number };

export const PreviewView = viewSchema('RecoveryPreview', {
  subscription_guid: Guid,
  since: { ...Timestamp, example: '2026-11-01T00:00:00.000Z' },
  until: Timestamp,
  failed: countSchema('Failed deliveries that were not redelivered since', 12),
  waiting: countSchema('Deliveries that are still attempted without a redelivery', 1_203),
  due: countSchema('Waiting deliveries that are due or being sent; kind waiting changes nothing for them', 0),
  paused: countSchema(
    'Waiting deliveries that the endpoint postponed by Retry-After; kind waiting does not send them earlier',
    0,
  ),
  all: countSchema('Events', 5_410),
});

function countSchema(description: string, example: number) {
  return Type.Integer({ description: `${description}. Exact up to 10,000, counting stops there`, example });
}

export function viewPreview({ since, until, ...preview }: RedeliveryPreview): Static<typeof PreviewView> {
  return { ...preview, since: since.toISOString(), until: until.toISOString() };
}

export function viewRedelivery(redelivery: Redelivery): Static<typeof RecoveryView> {
  const { completed_at: completedAt, cancelled_at: cancelledAt, redelivered, actor_type, actor } = redelivery;
  const failedAt = cancelledAt === null ? redelivery.failed_at : null;
  return {
    guid: redelivery.guid,
    subscription_guid: redelivery.subscription_guid,
    environment: redelivery.environment,
    kind: redelivery.kind,
    since: redelivery.since.toISOString(),
    until: redelivery.until.toISOString(),
    state: stateOf(redelivery),
    total: redelivery.total,
    done: redelivery.done,
    ...(redelivered === null ? {} : { redelivered }),
    ...(actor_type === null ? {} : { actor_type }),
    ...(actor === null ? {} : { actor }),
    created_at: redelivery.created_at.toISOString(),
    updated_at: redelivery.updated_at.toISOString(),
    ...(completedAt === null ? {} : { completed_at: completedAt.toISOString() }),
    ...(failedAt === null ? {} : { failed_at: failedAt.toISOString() }),
    ...(cancelledAt === null ? {} : { cancelled_at: cancelledAt.toISOString() }),
  };
}
