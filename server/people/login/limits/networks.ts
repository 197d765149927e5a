import type { Database, Transaction } from '../../../infrastructure/database/database.ts';
import { networkOf } from '../../../infrastructure/rate-limits/address.ts';
import type { Clock } from '../../../infrastructure/runtime/clock.ts';
import * as store from './network-store.ts';

export type Networks = ReturnType<typeof createNetworks>;

/** A new network beyond the limit replaces the least recently used one. */
const MAX_NETWORKS_PER_MEMBER = 10;
const NETWORK_LIFETIME_MS = 90 * 24 * 3_600_000;

/** Networks that members logged in from. Logins from them have a rate limit and a queue of their own. */
export function createNetworks({ database, clock }: { database: Database; clock: Clock }) {
  const usedSince = () => new Date(clock.now().getTime() - NETWORK_LIFETIME_MS);
  return {
    isKnown: (memberGuid: string, address: string | undefined): Promise<boolean> =>
      store.hasNetwork(
        database.authentication.queries,
        { memberGuid, network: networkOf(address) },
        usedSince(),
      ),

    async record(transaction: Transaction, memberGuid: string, address: string | undefined): Promise<void> {
      await store.upsertNetwork(transaction, { memberGuid, network: networkOf(address) }, clock.now());
      await store.deleteOldNetworks(transaction, memberGuid, MAX_NETWORKS_PER_MEMBER);
    },

    sweep: () => store.deleteUnusedNetworks(database.queries, usedSince()),
  };
}
