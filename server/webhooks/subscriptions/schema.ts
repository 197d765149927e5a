import Type, { type Static } from 'typebox';
import {
  EnvironmentName,
  Guid,
  strictObject,
  Timestamp,
} from '../../infrastructure/http/requests/schemas.ts';
import type { Secret } from '../../infrastructure/runtime/secret.ts';
import type { Subscription, SubscriptionState } from './state.ts';

const MAX_NAME_CHARACTERS = 128;
const MAX_URL_CHARACTERS = 1_024;
/** Without `deleted`: a deleted subscription is not found. */
const STATES: SubscriptionState[] = ['storing', 'active', 'failed', 'deleting'];

const Name = Type.String({ minLength: 1, maxLength: MAX_NAME_CHARACTERS, pattern: '\\S' });
const SubscriptionType = Type.Enum(['webhook'], { description: 'webhook' });

const Url = Type.String({
  minLength: 1,
  maxLength: MAX_URL_CHARACTERS,
  description: 'endpoint that receives events: https, or http in sandbox; without credentials and fragment',
  example: 'https://partner.example/webhooks',
});

export const NewSubscription = strictObject({
  type: SubscriptionType,
  name: Name,
  url: Url,
  environment: EnvironmentName,
});
export const SubscriptionChanges = strictObject({
  name: Type.Optional(Name),
  url: Type.Optional({
    ...Url,
    description: 'new endpoint; until it answers 2xx it receives one event, and the others wait',
  }),
});

export const SubscriptionControls = strictObject({
  protection_enabled: Type.Optional(Type.Boolean({ description: 'prevents deletion' })),
  disabled: Type.Optional(
    Type.Boolean({ description: 'stops deliveries; enabling resets deliveries_failing_since' }),
  ),
});

export const SubscriptionView = Type.Object({
  guid: Guid,
  organization_guid: Guid,
  name: Type.String(),
  url: Type.String(),
  environment: EnvironmentName,
  type: SubscriptionType,
  state: Type.Enum(STATES, {
    description:
      'storing: receives only its first event until the endpoint answers 2xx; active: receives all events; ' +
      'deleting: delivers until scheduled_deletion_at',
  }),
  created_at: Timestamp,
  updated_at: Timestamp,
  deliveries_failing_since: Type.Optional(Timestamp),
  scheduled_deletion_at: Type.Optional(Timestamp),
  protection_enabled: Type.Boolean({
    description: 'deletion is prevented; only the operator can change this',
  }),
});

const signingKey = Type.String({
  pattern: '^[0-9a-f]{64}$',
  description: 'signs every delivery; shown only once',
});
export const CreatedSubscriptionView = Type.Object({
  ...SubscriptionView.properties,
  signing_key: signingKey,
});

const disabled = Type.Boolean({ description: 'the operator has stopped its deliveries' });
export const ControlledSubscriptionView = Type.Object({ ...SubscriptionView.properties, disabled });
export const CreatedControlledSubscriptionView = Type.Object({
  ...ControlledSubscriptionView.properties,
  signing_key: signingKey,
});

export function viewSubscription(subscription: Subscription): Static<typeof SubscriptionView> {
  const { deliveries_failing_since: failingSince, scheduled_deletion_at: deletionAt } = subscription;
  return {
    guid: subscription.guid,
    organization_guid: subscription.organization_guid,
    name: subscription.name,
    url: subscription.url,
    environment: subscription.environment,
    type: 'webhook',
    state: subscription.state,
    created_at: subscription.created_at.toISOString(),
    updated_at: subscription.updated_at.toISOString(),
    ...(failingSince === null ? {} : { deliveries_failing_since: failingSince.toISOString() }),
    ...(deletionAt === null ? {} : { scheduled_deletion_at: deletionAt.toISOString() }),
    protection_enabled: subscription.protection_enabled,
  };
}

export function viewControlled(subscription: Subscription): Static<typeof ControlledSubscriptionView> {
  return { ...viewSubscription(subscription), disabled: subscription.disabled_at !== null };
}

export function withSigningKey<View extends object>(view: View, key: Secret): View & { signing_key: string } {
  return { ...view, signing_key: key.reveal() };
}
