import type { Database, Transaction } from '../../infrastructure/database/database.ts';
import { createRemembered } from '../../infrastructure/database/remembered.ts';
import type { EnvironmentName } from '../../infrastructure/database/tables.ts';
import { setBounded } from '../../infrastructure/runtime/bounded-map.ts';
import type { Clock } from '../../infrastructure/runtime/clock.ts';
import type { Secret } from '../../infrastructure/runtime/secret.ts';
import * as store from './endpoint-store.ts';
import { isHolding, selectHolding, selectHoldingAfter } from './holding-store.ts';
import type { SigningKeys } from './signing-key.ts';
import { type SubscriptionRow, stateOf } from './state.ts';

/** The data of a subscription that the dispatcher needs. `guid` is the guid of the subscription. */
export type Endpoint = {
  guid: string;
  organizationGuid: string;
  environment: EnvironmentName;
  url: string;
  /** Throws when the key cannot be decrypted. Lazy, so that one broken key affects only its own deliveries. */
  signingKey(): Secret;
  /** Grows with every change of the URL and every pause; of two readings, the higher one is newer. */
  version: number;
  /** Deliveries are created as failed. */
  disabled: boolean;
  /** Deliveries wait, also while the Organization is frozen. */
  paused: boolean;
  /** Neither failed nor disabled nor deleted. */
  delivers: boolean;
  endsAt: Date | undefined;
  /** Time of the last recovery, change of the URL or end of a pause; undefined while the endpoint is failing. */
  recoveredAt: Date | undefined;
  /** Set until the endpoint has answered 2xx: one delivery is sent, the others wait. */
  firstOnly?: FirstOnly | undefined;
  /** The last recorded delivery succeeded. */
  hasAnswered: boolean;
  urlChangedAt?: Date | undefined;
  /** The term of the dispatcher's lease in which it was read (`lease.ts`). */
  leaseTerm: number;
};

/** What alerts say about an endpoint. */
export type EndpointCondition = {
  guid: string;
  organizationGuid: string;
  environment: EnvironmentName;
  name: string;
  url: string;
  failingSince: Date | undefined;
  /** The last success after failures. */
  recoveredAt: Date | undefined;
  /** Failed, disabled or deleted. */
  hasEnded: boolean;
};
export type FailingEndpoint = EndpointCondition & { failingSince: Date };

/** `deliveryGuid` is unset after a change of the URL while disabled. */
type FirstOnly = { deliveryGuid: string | undefined };

const MAX_REMEMBERED_KEYS = 10_000;
/** Their endpoints are up to 20 rows of about 1 KB each. */
const MAX_REMEMBERED_ORGANIZATIONS = 1_000;

type Deps = { database: Database; clock: Clock; signingKeys: SigningKeys; leaseTerm(): number };
/** To be taken before the rows are read. */
type Reading = { now: Date; term: number };

export function createEndpoints({ database, clock, signingKeys, leaseTerm }: Deps) {
  const remembered = new Map<string, Secret>();

  function keyOf({ guid, signing_key_encrypted: encrypted }: store.EncryptedKey): Secret {
    const known = remembered.get(guid);
    if (known) return known;
    const key = signingKeys.decrypt(guid, encrypted);
    setBounded(remembered, guid, key, MAX_REMEMBERED_KEYS);
    return key;
  }

  const startReading = (): Reading => ({ now: clock.now(), term: leaseTerm() });

  function endpointOf(row: store.EndpointRow, { now, term }: Reading): Endpoint {
    const { guid, signing_key_encrypted } = row;
    const hasEnded = row.failed_at !== null || stateOf(row, now) === 'deleted';
    return {
      guid,
      organizationGuid: row.organization_guid,
      environment: row.environment,
      url: row.url,
      // Without the row, because dispatchers keep thousands of endpoints.
      signingKey: () => keyOf({ guid, signing_key_encrypted }),
      version: row.endpoint_version,
      disabled: row.disabled_at !== null,
      paused: row.paused_at !== null || row.frozen,
      delivers: !hasEnded && row.disabled_at === null,
      endsAt: row.scheduled_deletion_at ?? undefined,
      recoveredAt: row.deliveries_failing_since === null ? earlyBefore(row) : undefined,
      firstOnly:
        row.activated_at === null ? { deliveryGuid: row.first_delivery_guid ?? undefined } : undefined,
      hasAnswered: row.activated_at !== null && row.deliveries_failing_since === null,
      urlChangedAt: row.url_changed_at ?? undefined,
      leaseTerm: term,
    };
  }

  const receiversOf = createRemembered<readonly store.ReceiverRow[]>({
    clock,
    async read(transaction, organizationGuids) {
      const rows = await store.selectReceivers(transaction, organizationGuids);
      const byOwner = Map.groupBy(rows, ({ organization_guid }) => organization_guid);
      return new Map(organizationGuids.map((guid) => [guid, byOwner.get(guid) ?? []]));
    },
    check: (transaction, receivers) =>
      store.requireReceivers(transaction, [...receivers.keys()], [...receivers.values()].flat()),
    maxRemembered: MAX_REMEMBERED_ORGANIZATIONS,
  });

  return {
    /** The same as `endpointsOf`, without a round trip for Organizations that were asked for before. */
    async rememberedEndpointsOf(
      ...[transaction, organizationGuids, options]: Parameters<typeof receiversOf>
    ): Promise<Endpoint[]> {
      const reading = startReading();
      const receivers = [...(await receiversOf(transaction, organizationGuids, options)).values()].flat();
      return receivers
        .filter((row) => stateOf(row, reading.now) !== 'deleted')
        .map((row) => endpointOf(row, reading));
    },

    /** Endpoints that receive new events of these Organizations, including disabled ones. */
    async endpointsOf(transaction: Transaction, organizationGuids: readonly string[]): Promise<Endpoint[]> {
      const reading = startReading();
      const rows = await store.selectEndpointsOf(transaction, organizationGuids, reading.now);
      return rows.map((row) => endpointOf(row, reading));
    },

    /** By subscription guid, in any state. */
    async endpoints(guids: readonly string[]): Promise<Endpoint[]> {
      if (guids.length === 0) return [];
      const reading = startReading();
      const rows = await store.selectEndpoints(database.queries, guids);
      return rows.map((row) => endpointOf(row, reading));
    },

    hasEnded: store.hasEnded,
    isHolding,

    /** Subscriptions of one Organization, except those deleted before `deletedAfter`. */
    guidsOf: (owned: store.Owned): Promise<string[]> => store.selectGuids(database.queries, owned),

    /** A page of endpoints that have been failing since before `moment`, in the order of their guids. */
    async failingSince(moment: Date, after: string, limit: number): Promise<FailingEndpoint[]> {
      const now = clock.now();
      const rows = await store.selectFailingSince(database.queries, { moment, after, now, limit });
      return rows.map((row) => conditionOf(row, now)) as FailingEndpoint[];
    },

    /** By subscription guid, in any state. */
    async conditionsOf(guids: readonly string[]): Promise<ReadonlyMap<string, EndpointCondition>> {
      const now = clock.now();
      const rows = await store.selectEndpoints(database.queries, guids);
      return new Map(rows.map((row) => [row.guid, conditionOf(row, now)]));
    },

    /**
     * Updates subscriptions in the transaction that records deliveries: the first success activates, a failure starts
     * `deliveries_failing_since`, a success clears it. Returns the activated subscriptions.
     */
    async applyOutcomes(
      transaction: Transaction,
      outcomes: readonly store.EndpointEffect[],
    ): Promise<string[]> {
      return outcomes.length > 0 ? store.updateOutcomes(transaction, outcomes) : [];
    },

    /** The first deliveries of the inactive ones among these subscriptions. */
    async firstDeliveriesOf(guids: readonly string[]): Promise<ReadonlyMap<string, string | undefined>> {
      const rows = guids.length > 0 ? await selectHolding(database.queries, guids) : [];
      return new Map(rows.map((row) => [row.guid, row.first_delivery_guid ?? undefined]));
    },

    /** Whether a delivery waits for the first 2xx of its endpoint or the end of a pause, for these subscriptions. */
    async heldDeliveriesOf(
      guids: readonly string[],
    ): Promise<(delivery: { guid: string; subscription_guid: string }) => boolean> {
      const rows = guids.length > 0 ? await selectHolding(database.queries, guids) : [];
      const holding = new Map(rows.map((row) => [row.guid, row]));
      return ({ guid, subscription_guid }) => {
        const holder = holding.get(subscription_guid);
        if (!holder) return false;
        const { paused_at: pausedAt, first_delivery_guid: first } = holder;
        return pausedAt !== null || first !== guid;
      };
    },

    /** Subscriptions in guid order, after `after`, that may have deliveries without attempts from before `createdBefore`. */
    holdingAfter: (after: string, page: { createdBefore: Date; limit: number }): Promise<string[]> =>
      selectHoldingAfter(database.queries, after, page),
  };
}

/** Retries that were scheduled before are early. */
function earlyBefore(row: store.EndpointRow): Date | undefined {
  const { recovered_at: recovered, retries_early_before: before } = row;
  return (recovered && (!before || recovered > before) ? recovered : before) ?? undefined;
}

function conditionOf(row: SubscriptionRow, now: Date): EndpointCondition {
  const { guid, organization_guid: organizationGuid, environment, name, url } = row;
  return {
    ...{ guid, organizationGuid, environment, name, url },
    failingSince: row.deliveries_failing_since ?? undefined,
    recoveredAt: row.recovered_at ?? undefined,
    hasEnded: row.failed_at !== null || row.disabled_at !== null || stateOf(row, now) === 'deleted',
  };
}
