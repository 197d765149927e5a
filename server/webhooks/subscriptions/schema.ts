import Type, { type Static } from 'typebox';
import {
  createdAtFilters,
  environmentsFilter,
  guidsFilter,
  updatedAtFilters,
  wordsFilter,
} from '../../infrastructure/http/requests/filters.ts';
import {
  EnvironmentName,
  Guid,
  inputSchema,
  nameSchema,
  strictObject,
  Timestamp,
} from '../../infrastructure/http/requests/schemas.ts';
import type { Secret } from '../../infrastructure/runtime/secret.ts';
import { SUBSCRIPTION_TYPE, type Subscription, type SubscriptionState } from './state.ts';

const MAX_NAME_CHARACTERS = 128;
const MAX_URL_CHARACTERS = 1_024;
/** Without `deleted`: a deleted subscription is not found. */
const STATES: SubscriptionState[] = ['storing', 'active', 'failed', 'deleting'];

const Name = nameSchema(MAX_NAME_CHARACTERS, 'Order service');
const SubscriptionType = Type.Enum([SUBSCRIPTION_TYPE], {
  title: 'SubscriptionType',
  description: SUBSCRIPTION_TYPE,
});

const Url = Type.String({
  minLength: 1,
  maxLength: MAX_URL_CHARACTERS,
  description: `The endpoint: an https URL (http too in sandbox) of at most ${MAX_URL_CHARACTERS} characters, without credentials and fragment`,
  example: 'https://partner.example/webhooks',
});

/** The filters of both lists: the partner's and the operator's. */
export const subscriptionFilters = {
  guid: guidsFilter,
  type: wordsFilter,
  state: Type.Optional({
    ...wordsFilter,
    description: 'One state, or several separated by commas; completed means active',
  }),
  environment: environmentsFilter,
  ...createdAtFilters,
  ...updatedAtFilters,
};

const replacesGuid = {
  ...Guid,
  description: 'The subscription that this one replaces in a roll of its signing key',
};

export const NewSubscription = strictObject(
  {
    type: SubscriptionType,
    name: Name,
    url: Url,
    environment: EnvironmentName,
    replaces_guid: Type.Optional(replacesGuid),
  },
  // The example replaces no other subscription.
  { title: 'NewSubscription', example: {} },
);
export const SubscriptionChanges = inputSchema('SubscriptionChanges', {
  name: Type.Optional(Name),
  url: Type.Optional({
    ...Url,
    description:
      'The new endpoint. It receives a subscription.storing; everything else waits until it answers 2xx',
  }),
  paused: Type.Optional(
    Type.Boolean({
      description:
        'true: deliveries wait, each for up to seven days after its creation. false: waiting deliveries are sent',
    }),
  ),
});

/** The operator's alone. */
export const SubscriptionControls = inputSchema('SubscriptionControls', {
  protection_enabled: Type.Optional(
    Type.Boolean({ description: 'Whether the subscription is protected from deletion' }),
  ),
  disabled: Type.Optional(
    Type.Boolean({ description: 'Whether deliveries are stopped. Enabling resets the failure period' }),
  ),
});

export const SubscriptionView = Type.Object(
  {
    guid: Guid,
    organization_guid: Guid,
    name: Type.String({ example: 'Order service' }),
    url: Type.String({ example: 'https://partner.example/webhooks' }),
    environment: EnvironmentName,
    type: SubscriptionType,
    state: Type.Enum(STATES, {
      title: 'SubscriptionState',
      description:
        'storing: receives its first event only, the others wait; active: its endpoint has answered 2xx; ' +
        'failed: deliveries have failed for too long; deleting: delivers until scheduled_deletion_at',
      example: 'active',
    }),
    created_at: Timestamp,
    updated_at: Timestamp,
    deliveries_failing_since: Type.Optional(Timestamp),
    paused_at: Type.Optional({ ...Timestamp, description: 'Deliveries have been waiting since then' }),
    replaces_guid: Type.Optional(replacesGuid),
    scheduled_deletion_at: Type.Optional(Timestamp),
    protection_enabled: Type.Boolean({
      description: 'Whether it is protected from deletion. Only the operator can change this',
    }),
  },
  { title: 'Subscription', example: {} },
);

const signingKey = Type.String({
  pattern: '^[0-9a-f]{64}$',
  description:
    'Signs every delivery: 64 lowercase hexadecimal characters, returned by this response only. Store it',
  example: '60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752',
});
export const CreatedSubscriptionView = Type.Object(
  {
    ...SubscriptionView.properties,
    signing_key: signingKey,
  },
  { title: 'CreatedSubscription', example: { state: 'storing' } },
);

const disabled = Type.Boolean({ description: 'Whether the operator has stopped its deliveries' });
export const ControlledSubscriptionView = Type.Object(
  { ...SubscriptionView.properties, disabled },
  { title: 'ControlledSubscription', example: {} },
);
export const CreatedControlledSubscriptionView = Type.Object(
  {
    ...ControlledSubscriptionView.properties,
    signing_key: signingKey,
  },
  { title: 'CreatedControlledSubscription', example: { state: 'storing' } },
);

export function viewSubscription(subscription: Subscription): Static<typeof SubscriptionView> {
  const { deliveries_failing_since: failingSince, scheduled_deletion_at: deletionAt } = subscription;
  const { paused_at: pausedAt, replaces_guid: replaces } = subscription;
  return {
    guid: subscription.guid,
    organization_guid: subscription.organization_guid,
    name: subscription.name,
    url: subscription.url,
    environment: subscription.environment,
    type: SUBSCRIPTION_TYPE,
    state: subscription.state,
    created_at: subscription.created_at.toISOString(),
    updated_at: subscription.updated_at.toISOString(),
    ...(failingSince === null ? {} : { deliveries_failing_since: failingSince.toISOString() }),
    ...(pausedAt === null ? {} : { paused_at: pausedAt.toISOString() }),
    ...(replaces === null ? {} : { replaces_guid: replaces }),
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
