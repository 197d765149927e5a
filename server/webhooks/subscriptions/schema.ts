import Type, { type Static } from 'typebox';
import {
  EnvironmentName,
  Guid,
  strictObject,
  Timestamp,
} from '../../infrastructure/http/requests/schemas.ts';
import type { Secret } from '../../infrastructure/runtime/secret.ts';
import type { Subscription } from './service.ts';
import type { SubscriptionState } from './state.ts';

const MAX_NAME_CHARACTERS = 128;
const MAX_URL_CHARACTERS = 1_024;
/** The ones that can be seen: a deleted subscription is not there any more. */
const STATES: SubscriptionState[] = ['storing', 'active', 'failed', 'deleting'];

const Name = Type.String({ minLength: 1, maxLength: MAX_NAME_CHARACTERS, pattern: '\\S' });
const SubscriptionType = Type.Enum(['webhook'], { description: 'webhook' });

const Url = Type.String({
  minLength: 1,
  maxLength: MAX_URL_CHARACTERS,
  description: 'where events are posted to: https, or http in sandbox; without credentials and fragment',
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
    description:
      'the new endpoint: it receives one event until it has answered 2xx, the others wait for that',
  }),
});

/** The operator's alone. */
export const SubscriptionControls = strictObject({
  protection_enabled: Type.Optional(Type.Boolean({ description: 'refuses its deletion' })),
  disabled: Type.Optional(
    Type.Boolean({ description: 'stops its deliveries; enabling it again forgets how long they failed' }),
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
      'storing: receives its first event only, the others wait; active: its endpoint has answered 2xx; ' +
      'deleting: delivers until scheduled_deletion_at',
  }),
  created_at: Timestamp,
  updated_at: Timestamp,
  deliveries_failing_since: Type.Optional(Timestamp),
  scheduled_deletion_at: Type.Optional(Timestamp),
  protection_enabled: Type.Boolean({ description: 'it cannot be deleted; only the operator changes this' }),
});

const signingKey = Type.String({
  pattern: '^[0-9a-f]{64}$',
  description: 'signs every delivery; shown this once, never retrievable again',
});
export const CreatedSubscriptionView = Type.Object({
  ...SubscriptionView.properties,
  signing_key: signingKey,
});

const disabled = Type.Boolean({ description: 'its deliveries are stopped by the operator' });
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

/** The one answer that shows the key. */
export function withSigningKey<View extends object>(view: View, key: Secret): View & { signing_key: string } {
  return { ...view, signing_key: key.reveal() };
}
