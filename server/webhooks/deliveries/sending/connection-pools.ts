import { Client } from 'undici';
import { guardedConnector } from '../../../infrastructure/network/outbound.ts';
import type { Resolve } from '../../../infrastructure/network/resolve.ts';
import type { Clock } from '../../../infrastructure/runtime/clock.ts';

/**
 * Origins with idle connections only. Beyond it the one that was idle for longest loses them. Origins in use do not
 * count: they are as many as there are requests, and those that hang must cost no other its connections.
 */
export const MAX_IDLE_POOLS = 1_000;
/** A connection is used for no longer: then the name is resolved and checked again, and has moved perhaps. */
export const CONNECTION_LIFETIME_MS = 60_000;
/** Without a hint of the endpoint. Most servers keep an idle connection for five seconds or longer. */
const KEEP_ALIVE_MS = 4_000;
/** Closed that much before the moment that the endpoint announces, so that no request meets its closing. */
const KEEP_ALIVE_MARGIN_MS = 2_000;
const MAX_HEADER_BYTES = 16 * 1024;

const CLIENT_OPTIONS = {
  // One request at a time on a connection: a slow answer never stands before another one.
  pipelining: 1,
  allowH2: false,
  useMilo: false,
  maxHeaderSize: MAX_HEADER_BYTES,
  keepAliveTimeout: KEEP_ALIVE_MS,
  keepAliveTimeoutThreshold: KEEP_ALIVE_MARGIN_MS,
  keepAliveMaxTimeout: CONNECTION_LIFETIME_MS,
  // The deadline of the exchange is the only one, and in tests its time is not this machine's.
  headersTimeout: 0,
  bodyTimeout: 0,
};

type Pool = { readonly key: string; readonly lines: Set<Line>; readonly idle: Line[] };

/** One connection, or the attempt at one. Whoever took it has it alone until it is given back or dropped. */
export type Line = {
  readonly client: Client;
  readonly pool: Pool;
  readonly openedAt: number;
  readonly stop: AbortController;
};

export type Pools = {
  /** An idle connection to the origin, if there is one. */
  takeIdle(origin: string, allowPrivate: boolean): Line | undefined;
  open(origin: string, allowPrivate: boolean): Line;
  giveBack(line: Line): void;
  /** Ends the connection and whatever is under way on it. */
  drop(line: Line): Promise<void>;
  close(): Promise<void>;
};

/**
 * Connections by origin. How many there are at once is up to the callers, each of which limits its own
 * requests: a pool never lets anybody wait, so a slow tenant holds up nobody else at the same origin.
 * undici's own Pool could not end a connection attempt whose exchange has timed out.
 *
 * An idle connection ends by undici's timer, a pool with its last connection: nothing is left to sweep.
 */
export function createPools({ clock, resolve }: { clock: Clock; resolve: Resolve }): Pools {
  const pools = new Map<string, Pool>();
  /** Those with idle connections only, the longest idle first. */
  const idlePools = new Set<Pool>();

  function takeIdle(origin: string, allowPrivate: boolean): Line | undefined {
    const pool = pools.get(poolKey(origin, allowPrivate));
    if (pool === undefined) return undefined;
    const now = clock.now().getTime();
    // The one used last: it is the least likely to be closed by now, and the others may go idle.
    for (let line = pool.idle.pop(); line; line = pool.idle.pop()) {
      if (now - line.openedAt < CONNECTION_LIFETIME_MS) {
        idlePools.delete(pool);
        return line;
      }
      void drop(line);
    }
    return undefined;
  }

  function open(origin: string, allowPrivate: boolean): Line {
    const openedAt = clock.now().getTime();
    const pool = poolOf(poolKey(origin, allowPrivate));
    idlePools.delete(pool);
    const stop = new AbortController();
    const connect = guardedConnector({ resolve, allowPrivate, signal: stop.signal });
    const client = new Client(origin, { ...CLIENT_OPTIONS, connect });
    const line = { client, pool, openedAt, stop };
    pool.lines.add(line);
    client.on('disconnect', () => {
      // While it is in use, undici tells its user, or connects again for a request not sent yet.
      const place = pool.idle.indexOf(line);
      if (place === -1) return;
      pool.idle.splice(place, 1);
      void drop(line);
    });
    return line;
  }

  function poolOf(key: string): Pool {
    const known = pools.get(key);
    if (known) return known;
    const pool = { key, lines: new Set<Line>(), idle: [] };
    pools.set(key, pool);
    return pool;
  }

  function giveBack(line: Line): void {
    const { pool } = line;
    pool.idle.push(line);
    noteIdle(pool);
  }

  function noteIdle(pool: Pool): void {
    if (pool.idle.length === 0 || pool.idle.length < pool.lines.size) return;
    idlePools.add(pool);
    if (idlePools.size <= MAX_IDLE_POOLS) return;
    const [longest] = idlePools;
    for (const idle of longest?.idle.splice(0) ?? []) void drop(idle);
  }

  function drop(line: Line): Promise<void> {
    const { client, pool, stop } = line;
    pool.lines.delete(line);
    if (pool.lines.size > 0) noteIdle(pool);
    else {
      idlePools.delete(pool);
      if (pools.get(pool.key) === pool) pools.delete(pool.key);
    }
    const ended = client.destroy();
    stop.abort();
    return ended;
  }

  async function close(): Promise<void> {
    const lines = Array.from(pools.values(), (pool) => {
      pool.idle.length = 0;
      return [...pool.lines];
    });
    await Promise.all(lines.flat().map(drop));
  }

  return { takeIdle, open, giveBack, drop, close };
}

/** What was reached with the check lifted must never serve those who have it. */
function poolKey(origin: string, allowPrivate: boolean): string {
  return allowPrivate ? `private ${origin}` : origin;
}
