import type { Actor, Audit } from '../audit/service.ts';
import type { Database } from '../database/database.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import type { Caller } from './verifier.ts';

/**
 * Calls refused for their source address, in the audit record. The first of a key and address is recorded at
 * once; those that follow within a minute are counted and recorded together, and so are those from ever new
 * addresses: a flood of refused calls does not become a flood of writes.
 */
export type Denials = ReturnType<typeof createDenials>;

const MERGE_MS = 60_000;
/** What of one key is told apart by address; further addresses are recorded together. */
const MAX_ADDRESSES_PER_KEY = 20;
const MAX_WATCHED = 10_000;

type Details = { address: string | undefined; requestId: string; path: string };
type Watched = { actor: Actor; organizationGuid: string; path: string; times: number; until: number };

export function createDenials({
  database,
  audit,
  clock,
  log,
}: {
  database: Database;
  audit: Audit;
  clock: Clock;
  log: Log;
}) {
  const watched = new Map<string, Watched>();
  const addressesOf = new Map<string, number>();
  let writing: Promise<void> = Promise.resolve();

  function write(entry: Watched, times: number): void {
    writing = writing
      .then(() =>
        database.transaction((transaction) =>
          audit.record(transaction, entry.actor, {
            organizationGuid: entry.organizationGuid,
            action: 'access.deny',
            objectType: 'application',
            objectId: entry.actor.id,
            changes: { reason: 'ip_not_allowed', path: entry.path, times },
          }),
        ),
      )
      .catch((error: unknown) => log.error({ err: error }, 'a denied call could not be recorded'));
  }

  function watch(key: string, entry: Watched): void {
    watched.set(key, entry);
    addressesOf.set(entry.actor.id, (addressesOf.get(entry.actor.id) ?? 0) + 1);
  }

  function release(key: string, entry: Watched): void {
    watched.delete(key);
    const left = (addressesOf.get(entry.actor.id) ?? 1) - 1;
    if (left === 0) addressesOf.delete(entry.actor.id);
    else addressesOf.set(entry.actor.id, left);
    if (entry.times > 0) write(entry, entry.times);
  }

  /** What was counted and is due; all of it when the process stops. */
  async function flush({ all = false } = {}): Promise<void> {
    const now = clock.now().getTime();
    for (const [key, entry] of watched) if (all || entry.until <= now) release(key, entry);
    await writing;
  }

  return {
    note({ id, organizationGuid }: Pick<Caller, 'id' | 'organizationGuid'>, details: Details): void {
      const { requestId, path } = details;
      const own = `${id} ${details.address}`;
      const apart = watched.has(own) || (addressesOf.get(id) ?? 0) < MAX_ADDRESSES_PER_KEY;
      const [key, address] = apart ? [own, details.address] : [`${id} others`, undefined];
      const now = clock.now().getTime();
      const known = watched.get(key);
      if (known && known.until > now) {
        known.times += 1;
        return;
      }
      if (known) release(key, known);
      // Past this many at once only the metrics still count; what they show is an attack anyway.
      if (watched.size >= MAX_WATCHED) return;
      const actor: Actor = { type: 'application', id, address, requestId };
      const entry = { actor, organizationGuid, path, times: 0, until: now + MERGE_MS };
      write(entry, 1);
      watch(key, entry);
    },
    flush,
  };
}
