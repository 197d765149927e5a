import type { Database, Transaction } from '../../infrastructure/database/database.ts';
import type { EnvironmentName } from '../../infrastructure/database/tables.ts';
import { setBounded } from '../../infrastructure/runtime/bounded-map.ts';
import type { Clock } from '../../infrastructure/runtime/clock.ts';
import type { Secret } from '../../infrastructure/runtime/secret.ts';
import * as store from './receiver-store.ts';
import type { SigningKeys } from './signing-key.ts';
import { stateOf } from './state.ts';

/** A subscription as whoever delivers to it sees it. */
export type Receiver = {
  guid: string;
  organizationGuid: string;
  environment: EnvironmentName;
  url: string;
  /**
   * Throws when the key cannot be decrypted. It is asked for when something is signed, not when receivers are read,
   * so one broken key stops the deliveries of one subscription, and even those are created and wait.
   */
  signingKey(): Secret;
  /** Deliveries to it are created, as failed. */
  disabled: boolean;
  /** Neither failed nor disabled nor gone. */
  delivers: boolean;
  endsAt: Date | undefined;
  /** When its endpoint came back; only as long as it has not failed again. */
  recoveredAt: Date | undefined;
  /** Set until the endpoint at `url` has answered 2xx: one delivery is sent, the others wait. */
  firstOnly?: FirstOnly | undefined;
  /** Its endpoint took the last delivery whose outcome is recorded. */
  hasAnswered: boolean;
};

/** The delivery that is sent, once a dispatcher has chosen it. */
type FirstOnly = { deliveryGuid: string | undefined };

/** What deliveries tell of a subscription, together: whether any succeeded, and since when they fail after that. */
export type ReceiverOutcome = store.Outcome;
type FirstChoice = store.FirstChoice;

/** Decrypting costs a little each time, and a key never changes. */
const MAX_REMEMBERED_KEYS = 10_000;

type Deps = { database: Database; clock: Clock; signingKeys: SigningKeys };

export function createReceivers({ database, clock, signingKeys }: Deps) {
  const remembered = new Map<string, Secret>();

  function keyOf({ guid, signing_key_encrypted: encrypted }: store.EncryptedKey): Secret {
    const known = remembered.get(guid);
    if (known) return known;
    const key = signingKeys.decrypt(guid, encrypted);
    setBounded(remembered, guid, key, MAX_REMEMBERED_KEYS);
    return key;
  }

  function receiverOf(row: store.ReceiverRow, now: Date): Receiver {
    const isOver = row.failed_at !== null || stateOf(row, now) === 'deleted';
    const hasRecovered = row.deliveries_failing_since === null;
    return {
      guid: row.guid,
      organizationGuid: row.organization_guid,
      environment: row.environment,
      url: row.url,
      signingKey: () => keyOf(row),
      disabled: row.disabled_at !== null,
      delivers: !isOver && row.disabled_at === null,
      endsAt: row.scheduled_deletion_at ?? undefined,
      recoveredAt: (hasRecovered ? row.recovered_at : null) ?? undefined,
      firstOnly:
        row.activated_at === null ? { deliveryGuid: row.first_delivery_guid ?? undefined } : undefined,
      hasAnswered: row.activated_at !== null && row.deliveries_failing_since === null,
    };
  }

  return {
    /** Who gets an event now: everyone of these Organizations who is not failed and not gone, the disabled included. */
    async receiversOf(transaction: Transaction, organizationGuids: readonly string[]): Promise<Receiver[]> {
      const now = clock.now();
      const rows = await store.selectReceiversOf(transaction, organizationGuids, now);
      return rows.map((row) => receiverOf(row, now));
    },

    /** By guid, whatever has become of them. */
    async receivers(guids: readonly string[]): Promise<Receiver[]> {
      if (guids.length === 0) return [];
      const rows = await store.selectReceivers(database.queries, guids);
      const now = clock.now();
      return rows.map((row) => receiverOf(row, now));
    },

    /** Of one Organization, with those that have ended, but not those that were gone by `goneAfter`. */
    guidsOf: (owned: store.Owned): Promise<string[]> => store.selectGuids(database.queries, owned),

    /**
     * In the transaction that records deliveries: the first success activates, a failure begins the count of days, a
     * success ends it. At most one for each subscription; of failed and deleted ones nothing is noted any more.
     * Returns the subscriptions that became active.
     */
    async noteOutcomes(transaction: Transaction, outcomes: readonly ReceiverOutcome[]): Promise<string[]> {
      return outcomes.length > 0 ? store.updateOutcomes(transaction, outcomes) : [];
    },

    /** Sets the delivery that an inactive endpoint is sent; returns the choices that no other node came before. */
    async chooseFirst(choices: readonly FirstChoice[]): Promise<FirstChoice[]> {
      if (choices.length === 0) return [];
      const chosen = new Set(await store.updateFirstDeliveries(database.queries, choices));
      return choices.filter(({ guid }) => chosen.has(guid));
    },

    /** The only delivery sent to each of these subscriptions; without the active ones. */
    async firstDeliveriesOf(guids: readonly string[]): Promise<ReadonlyMap<string, string | undefined>> {
      if (guids.length === 0) return new Map();
      const rows = await store.selectFirstDeliveries(database.queries, guids);
      return new Map(rows.map((row) => [row.guid, row.first_delivery_guid ?? undefined]));
    },
  };
}
