import type { Static } from 'typebox';
import { checkFeature } from '../../credentials/organizations/features.ts';
import type { Organizations } from '../../credentials/organizations/service.ts';
import type { Actor, Audit } from '../../infrastructure/audit/service.ts';
import type { Database, Transaction } from '../../infrastructure/database/database.ts';
import type { Page, PageOf } from '../../infrastructure/database/paging/paging.ts';
import type { Clock } from '../../infrastructure/runtime/clock.ts';
import type { Encryption } from '../../infrastructure/runtime/encryption.ts';
import { Failure, isFailure } from '../../infrastructure/runtime/failure.ts';
import type { Guids, RandomBytes } from '../../infrastructure/runtime/guid.ts';
import type { Secret } from '../../infrastructure/runtime/secret.ts';
import type { Events } from '../events/service.ts';
import { selectReceiversOf } from './receiver-store.ts';
import { createReceivers } from './receivers.ts';
import { changeOf, eventOf } from './records.ts';
import { createRotation } from './rotation.ts';
import type { NewSubscription, SubscriptionChanges, SubscriptionControls } from './schema.ts';
import { createSigningKeys } from './signing-key.ts';
import {
  isSubscriptionState,
  MAX_RECEIVING,
  MAX_RECEIVING_AT_URL,
  MAX_SUBSCRIPTIONS,
  type SubscriptionState,
  stateOf,
} from './state.ts';
import * as store from './store.ts';
import { createSweeps } from './sweeps.ts';
import { checkUrl, normalisedUrl } from './url.ts';

export type { Receiver, ReceiverOutcome } from './receivers.ts';
export type Subscriptions = ReturnType<typeof createSubscriptions>;
/** One that is there: the deleted are not. */
export type Subscription = store.SubscriptionRow & { state: Exclude<SubscriptionState, 'deleted'> };
export type CreatedSubscription = { subscription: Subscription; signingKey: Secret };

/** Deliveries go on for a day, so that a receiver can move to a new subscription without missing anything. */
const DELETION_DELAY_MS = 24 * 3_600_000;

type Deps = {
  database: Database;
  clock: Clock;
  guids: Guids;
  audit: Audit;
  events: Events;
  organizations: Organizations;
  encryption: Encryption;
  randomBytes: RandomBytes;
  supportEmail: string;
};

/** Webhook endpoints: who is told of events, where, and for how long. */
export function createSubscriptions(deps: Deps) {
  const { database, clock, guids, audit, events, organizations, supportEmail } = deps;
  const signingKeys = createSigningKeys(deps);

  /** Changes what is there, under its lock; `change` gives what to set, or nothing when nothing changes. */
  function changeFound(
    whose: store.Whose,
    guid: string,
    change: (
      transaction: Transaction,
      current: store.SubscriptionRow,
      now: Date,
    ) => Promise<store.SubscriptionRow | Failure>,
    lockedOrganization?: string,
  ): Promise<Subscription | Failure> {
    return database.transaction(async (transaction) => {
      const now = clock.now();
      if (lockedOrganization !== undefined) {
        const organization = await organizations.lockForUpdate(transaction, lockedOrganization);
        if (isFailure(organization)) return organization;
      }
      const current = await store.selectSubscriptionForUpdate(transaction, whose, guid, now);
      if (!current) return noSubscription();
      const changed = await change(transaction, current, now);
      return isFailure(changed) ? changed : withState(changed, now);
    });
  }

  async function refusalOfMove(
    transaction: Transaction,
    current: store.SubscriptionRow,
    url: string,
    now: Date,
  ): Promise<Failure | undefined> {
    const refused = checkUrl(url, current.environment);
    if (refused) return refused;
    if (current.failed_at !== null)
      return new Failure('state_conflict', 'A failed subscription keeps its url; create a new subscription');
    const receiving = await selectReceiversOf(transaction, [current.organization_guid], now);
    return refusalOfUrl(
      receiving.filter(({ guid }) => guid !== current.guid),
      url,
    );
  }

  return {
    ...createReceivers({ ...deps, signingKeys }),
    ...createSweeps(deps),
    ...createRotation({ signingKeys }),

    create(
      actor: Actor,
      { organizationGuid, environment: onlyIn }: store.Tenant,
      input: Static<typeof NewSubscription>,
    ): Promise<CreatedSubscription | Failure> {
      return database.transaction(async (transaction) => {
        const { name, url, environment } = input;
        if (onlyIn !== undefined && environment !== onlyIn)
          return new Failure('invalid_parameter', `environment must be ${onlyIn}, which the token is for`);
        const refused = checkUrl(url, environment);
        if (refused) return refused;
        // One at a time counts and adds: two that only read would both find the last free place.
        const organization = await organizations.lockForUpdate(transaction, organizationGuid);
        if (isFailure(organization)) return organization;
        const missing = checkFeature(organization, 'webhooks');
        if (missing) return missing;
        const now = clock.now();
        if ((await store.countCounted(transaction, organizationGuid, now)) >= MAX_SUBSCRIPTIONS)
          return new Failure(
            'subscription_limit_reached',
            `An Organization has at most ${MAX_SUBSCRIPTIONS} subscriptions; delete one first`,
          );
        const receiving = await selectReceiversOf(transaction, [organizationGuid], now);
        if (receiving.length >= MAX_RECEIVING)
          return new Failure(
            'subscription_limit_reached',
            `An Organization has at most ${MAX_RECEIVING} subscriptions that deliver; wait until the deleted ones have ended`,
          );
        const full = refusalOfUrl(receiving, url);
        if (full) return full;
        const signingKey = signingKeys.generate();
        const row = newRow(guids.next(), { organizationGuid, name, url, environment }, now);
        const signing_key_encrypted = signingKeys.encrypt(row.guid, signingKey);
        await store.insertSubscription(transaction, { ...row, signing_key_encrypted });
        await audit.record(transaction, actor, changeOf('create', row, { name, url, environment }));
        await events.publish(transaction, [eventOf('subscription.storing', row)]);
        return { subscription: withState(row, now), signingKey };
      });
    },

    async list(
      tenant: store.Tenant,
      page: Page,
      filters: store.SubscriptionFilters,
    ): Promise<PageOf<Subscription> | Failure> {
      const unknown = filters.state?.find((name) => !isSubscriptionState(name));
      if (unknown !== undefined)
        return new Failure('invalid_parameter', `state ${unknown} is not a state of subscriptions`);
      const now = clock.now();
      const found = await store.selectSubscriptions(database.lists, tenant, page, filters, now);
      return { ...found, rows: found.rows.map((row) => withState(row, now)) };
    },

    async get(whose: store.Whose, guid: string): Promise<Subscription | Failure> {
      const now = clock.now();
      const row = await store.selectSubscription(database.queries, whose, guid, now);
      return row ? withState(row, now) : noSubscription();
    },

    update(
      actor: Actor,
      tenant: store.Tenant,
      guid: string,
      { name, url }: Static<typeof SubscriptionChanges>,
    ): Promise<Subscription | Failure> {
      return changeFound(
        tenant,
        guid,
        async (transaction, current, now) => {
          const renames = name !== undefined && name !== current.name;
          const moves = url !== undefined && url !== current.url;
          if (!renames && !moves) return current;
          const refused = moves && (await refusalOfMove(transaction, current, url, now));
          if (refused) return refused;
          const changes = { ...(renames ? { name } : {}), ...(moves ? { url } : {}) };
          await audit.record(transaction, actor, changeOf('update', current, changes));
          const isOther = moves && normalisedUrl(url) !== normalisedUrl(current.url);
          return store.updateSubscription(transaction, guid, {
            ...changes,
            // The new endpoint has to answer 2xx, too, before it receives more than one event.
            ...(isOther ? { activated_at: null, first_delivery_guid: null } : {}),
            updated_at: now,
          });
        },
        // Before the subscription, as everywhere, and only when the URLs of the Organization are counted.
        url === undefined ? undefined : tenant.organizationGuid,
      );
    },

    /** Schedules its end. Asked for again it changes nothing: the first request set the time. */
    remove(actor: Actor, whose: store.Whose, guid: string): Promise<Subscription | Failure> {
      return changeFound(whose, guid, async (transaction, current, now) => {
        if (current.scheduled_deletion_at !== null) return current;
        if (current.protection_enabled)
          return new Failure(
            'subscription_protected',
            `This subscription is protected from deletion; write to ${supportEmail} to have that changed`,
          );
        const deletionAt = new Date(now.getTime() + DELETION_DELAY_MS);
        const changes = { scheduled_deletion_at: deletionAt.toISOString() };
        await audit.record(transaction, actor, changeOf('delete', current, changes));
        const changed = { scheduled_deletion_at: deletionAt, updated_at: now };
        const row = await store.updateSubscription(transaction, guid, changed);
        await events.publish(transaction, [eventOf('subscription.deleting', row)]);
        return row;
      });
    },

    /** The operator's: protection, and stopping its deliveries. What is already so is no change. */
    control(
      actor: Actor,
      guid: string,
      { protection_enabled: isProtected, disabled: isDisabled }: Static<typeof SubscriptionControls>,
    ): Promise<Subscription | Failure> {
      return changeFound('anyone', guid, async (transaction, current, now) => {
        const protects = isProtected !== undefined && isProtected !== current.protection_enabled;
        const switches = isDisabled !== undefined && isDisabled !== (current.disabled_at !== null);
        if (!protects && !switches) return current;
        const changes = {
          ...(protects ? { protection_enabled: isProtected } : {}),
          ...(switches ? { disabled: isDisabled } : {}),
        };
        await audit.record(transaction, actor, changeOf('update', current, changes));
        return store.updateSubscription(transaction, guid, {
          ...(protects ? { protection_enabled: isProtected } : {}),
          ...(switches && isDisabled ? { disabled_at: now } : {}),
          // A fresh start: the days that it stood still do not count as days of failing.
          ...(switches && !isDisabled ? { disabled_at: null, deliveries_failing_since: null } : {}),
          updated_at: now,
        });
      });
    },
  };
}

function newRow(
  guid: string,
  {
    organizationGuid,
    ...input
  }: { organizationGuid: string } & Pick<store.SubscriptionRow, 'name' | 'url' | 'environment'>,
  now: Date,
): store.SubscriptionRow {
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
    scheduled_deletion_at: null,
    deleted_at: null,
  };
}

function withState(row: store.SubscriptionRow, now: Date): Subscription {
  return { ...row, state: stateOf(row, now) as Subscription['state'] };
}

/** Why one more of an Organization's subscriptions may not have this URL, in whatever spelling. */
function refusalOfUrl(receiving: readonly { url: string }[], url: string): Failure | undefined {
  const wanted = normalisedUrl(url);
  const holding = receiving.filter((each) => normalisedUrl(each.url) === wanted);
  if (holding.length < MAX_RECEIVING_AT_URL) return undefined;
  return new Failure(
    'subscription_limit_reached',
    `At most ${MAX_RECEIVING_AT_URL} subscriptions deliver to one url, deleting ones included; use another url or wait until a deletion is complete`,
  );
}

function noSubscription(): Failure {
  return new Failure('not_found', 'There is no such subscription');
}
