import type { Static } from 'typebox';
import type { Alerts } from '../../alerts/service.ts';
import { checkFeature } from '../../credentials/organizations/features.ts';
import type { Organizations } from '../../credentials/organizations/service.ts';
import type { Actor } from '../../infrastructure/audit/service.ts';
import type { Base } from '../../infrastructure/base.ts';
import type { Transaction } from '../../infrastructure/database/database.ts';
import type { Page, PageOf } from '../../infrastructure/database/paging/paging.ts';
import { knownValues } from '../../infrastructure/http/requests/filters.ts';
import { type RecordAnswer, recordNothing } from '../../infrastructure/idempotency/record-answer.ts';
import type { RateLimits } from '../../infrastructure/rate-limits/service.ts';
import type { Encryption } from '../../infrastructure/runtime/encryption.ts';
import { Failure, isFailure, type Precondition } from '../../infrastructure/runtime/failure.ts';
import type { RandomBytes } from '../../infrastructure/runtime/guid.ts';
import type { Secret } from '../../infrastructure/runtime/secret.ts';
import type { Revocations } from '../../tokens/revoking/revocations.ts';
import type { Events } from '../events/service.ts';
import type { Visible } from '../visible.ts';
import { type Change, createChangeFound, noSubscription, withState } from './changing.ts';
import { selectEndpointsOf } from './endpoint-store.ts';
import { createEndpoints } from './endpoints.ts';
import { createFirstEvents, type FirstQueue } from './first-events.ts';
import { createNames } from './names.ts';
import { changeOf, eventOf } from './records.ts';
import { refusalOfReplacement } from './replacements.ts';
import { createRotation } from './rotation.ts';
import type { NewSubscription, SubscriptionControls } from './schema.ts';
import { createSigningKeys } from './signing-key.ts';
import {
  MAX_RECEIVING,
  MAX_SUBSCRIPTIONS,
  SUBSCRIPTION_STATES,
  SUBSCRIPTION_TYPE,
  type Subscription,
  type SubscriptionRow,
} from './state.ts';
import * as store from './store.ts';
import { createSweeps } from './sweeps.ts';
import { createUpdates, refusalOfUrl } from './updates.ts';
import { checkUrl } from './url.ts';

export type { EndpointEffect } from './endpoint-store.ts';
export type { Endpoint, FailingEndpoint } from './endpoints.ts';
export type { Subscription } from './state.ts';
export type Subscriptions = ReturnType<typeof createSubscriptions>;
export type CreatedSubscription = { subscription: Subscription; signingKey: Secret };

/** Deliveries continue for a day, so that a partner can move to a new subscription without missing events. */
const DELETION_DELAY_MS = 24 * 3_600_000;

type Deps = Base & {
  alerts: Alerts;
  events: Events;
  organizations: Organizations;
  revocations: Revocations;
  encryption: Encryption;
  randomBytes: RandomBytes;
  supportEmail: string;
  rateLimits: RateLimits;
  firstQueue: FirstQueue;
  /** No Retry-After of the old URL holds deliveries back from the new one. */
  endHolds(transaction: Transaction, subscriptionGuid: string): Promise<void>;
  /** Returns once no dispatcher uses an earlier version of the endpoint. */
  announceChange(guid: string): Promise<void>;
  /** The term of the lease of this process's dispatcher. */
  leaseTerm(): number;
};

/** Filters with names of types and states that are not validated yet. */
type RequestedFilters = Omit<store.SubscriptionFilters, 'state'> & {
  type?: readonly string[] | undefined;
  state?: readonly string[] | undefined;
};

export function createSubscriptions(deps: Deps) {
  const { database, clock, guids, audit, events, organizations, revocations } = deps;
  const { supportEmail, announceChange } = deps;
  const signingKeys = createSigningKeys(deps);

  const endpoints = createEndpoints({ ...deps, signingKeys });
  const changeFound = createChangeFound(deps);
  const firstEvents = createFirstEvents({ ...deps, endpointsOf: endpoints.endpointsOf });

  return {
    ...endpoints,
    ...createSweeps(deps),
    ...createNames(deps),
    ...createRotation({ signingKeys }),
    ...createUpdates({ ...deps, changeFound, firstEvents }),
    renewFirst: firstEvents.renewFirst,

    create(
      actor: Actor,
      { organizationGuid, environment: onlyIn }: Visible,
      input: Static<typeof NewSubscription>,
      recordAnswer: RecordAnswer<CreatedSubscription> = recordNothing,
    ): Promise<CreatedSubscription | Failure> {
      return database.transaction(async (transaction) => {
        const { name, url, environment } = input;
        if (onlyIn !== undefined && environment !== onlyIn)
          return new Failure(
            'invalid_parameter',
            `environment must be ${onlyIn}, the environment of the token`,
          );
        const refused = checkUrl(url, environment);
        if (refused) return refused;
        // The lock serializes counting and inserting, so that two requests cannot share the last free slot.
        const organization = await organizations.lockForUpdate(transaction, organizationGuid);
        if (isFailure(organization)) return organization;
        const missing = checkFeature(organization, 'webhooks');
        if (missing) return missing;
        const now = clock.now();
        if ((await store.countTowardsLimit(transaction, organizationGuid, now)) >= MAX_SUBSCRIPTIONS)
          return new Failure(
            'subscription_limit_reached',
            `Endpoint limit of the Organization reached (${MAX_SUBSCRIPTIONS}); delete a subscription first`,
          );
        const receiving = await selectEndpointsOf(transaction, [organizationGuid], now);
        if (receiving.length >= MAX_RECEIVING)
          return new Failure(
            'subscription_limit_reached',
            `Limit of delivering subscriptions reached (${MAX_RECEIVING}); wait until a scheduled deletion is complete`,
          );
        const full = refusalOfUrl(receiving, url);
        if (full) return full;
        const irreplaceable = await refusalOfReplacement(transaction, organizationGuid, input, now);
        if (irreplaceable) return irreplaceable;
        const signingKey = signingKeys.generate();
        const replaces_guid = input.replaces_guid ?? null;
        const row = newRow(guids.next(), { organizationGuid, name, url, environment, replaces_guid }, now);
        const signing_key_encrypted = signingKeys.encrypt(row.guid, signingKey);
        const changes = { name, url, environment, ...(replaces_guid === null ? {} : { replaces_guid }) };
        await store.insertSubscription(transaction, { ...row, signing_key_encrypted });
        await audit.record(transaction, actor, changeOf('create', row, changes));
        await firstEvents.publishCreation(transaction, row);
        const revoked = await revocations.checkAuthor(transaction, actor);
        if (revoked) return revoked;
        const created = { subscription: withState(row, now), signingKey };
        await recordAnswer(transaction, created);
        return created;
      });
    },

    async list(
      tenant: Visible,
      page: Page,
      { type, ...filters }: RequestedFilters,
    ): Promise<PageOf<Subscription> | Failure> {
      const unknownType = type?.find((name) => name !== SUBSCRIPTION_TYPE);
      if (unknownType !== undefined)
        return new Failure('invalid_parameter', `type must be ${SUBSCRIPTION_TYPE}; got ${unknownType}`);
      // Clients ask for `completed`, as in every other list.
      const wanted = filters.state?.map((name) => (name === 'completed' ? 'active' : name));
      const states = knownValues('state', wanted, SUBSCRIPTION_STATES);
      if (isFailure(states)) return states;
      const now = clock.now();
      const found = await store.selectSubscriptions(
        database.lists,
        tenant,
        page,
        { ...filters, state: states },
        now,
      );
      return { ...found, rows: found.rows.map((row) => withState(row, now)) };
    },

    async get(tenant: store.TenantFilter, guid: string): Promise<Subscription | Failure> {
      const now = clock.now();
      const row = await store.selectSubscription(database.queries, tenant, guid, now);
      return row ? withState(row, now) : noSubscription();
    },

    /** Schedules the deletion; a repeated request changes nothing. */
    remove(actor: Actor, tenant: store.TenantFilter, guid: string): Promise<Subscription | Failure> {
      const change: Change = async (transaction, current, now) => {
        if (current.scheduled_deletion_at !== null) return current;
        if (current.protection_enabled)
          return new Failure(
            'subscription_protected',
            `The subscription is protected from deletion; contact ${supportEmail} to remove the protection`,
          );
        const deletionAt = new Date(now.getTime() + DELETION_DELAY_MS);
        const changes = { scheduled_deletion_at: deletionAt.toISOString() };
        await audit.record(transaction, actor, changeOf('delete', current, changes));
        const changed = { scheduled_deletion_at: deletionAt, updated_at: now };
        const row = await store.updateSubscription(transaction, guid, changed);
        await events.publish(transaction, [eventOf('subscription.deleting', row)]);
        return row;
      };
      return changeFound(tenant, guid, change, { author: actor });
    },

    /**
     * For the operator: deletion protection and stopping deliveries. Returns once no dispatcher sends to a disabled
     * endpoint, apart from requests in flight.
     */
    async control(
      actor: Actor,
      guid: string,
      { protection_enabled: isProtected, disabled: isDisabled }: Static<typeof SubscriptionControls>,
      precondition?: Precondition<Subscription>,
    ): Promise<Subscription | Failure> {
      let changesEndpoint = false;
      const change: Change = async (transaction, current, now) => {
        const protects = isProtected !== undefined && isProtected !== current.protection_enabled;
        const switches = isDisabled !== undefined && isDisabled !== (current.disabled_at !== null);
        if (!protects && !switches) return current;
        changesEndpoint = switches;
        const changes = {
          ...(protects ? { protection_enabled: isProtected } : {}),
          ...(switches ? { disabled: isDisabled } : {}),
        };
        await audit.record(transaction, actor, changeOf('update', current, changes));
        const row = await store.updateSubscription(transaction, guid, {
          ...(protects ? { protection_enabled: isProtected } : {}),
          ...(switches && isDisabled ? { disabled_at: now } : {}),
          // Neither the time while disabled nor an earlier failure counts as failing.
          ...(switches && !isDisabled
            ? { disabled_at: null, deliveries_failing_since: null, retries_early_before: now }
            : {}),
          ...(switches ? { endpoint_version: store.nextVersion } : {}),
          updated_at: now,
        });
        // Disabling has failed the first event.
        if (switches && !isDisabled) await firstEvents.enqueueMissing(transaction, row);
        return row;
      };
      const changed = await changeFound('any tenant', guid, change, { precondition });
      if (changesEndpoint && !isFailure(changed)) await announceChange(guid);
      return changed;
    },
  };
}

function newRow(
  guid: string,
  {
    organizationGuid,
    ...input
  }: { organizationGuid: string } & Pick<SubscriptionRow, 'name' | 'url' | 'environment' | 'replaces_guid'>,
  now: Date,
): SubscriptionRow {
  return {
    guid,
    organization_guid: organizationGuid,
    ...input,
    protection_enabled: false,
    created_at: now,
    updated_at: now,
    activated_at: null,
    deliveries_failing_since: null,
    recovered_at: null,
    failed_at: null,
    disabled_at: null,
    paused_at: null,
    scheduled_deletion_at: null,
    deleted_at: null,
  };
}
