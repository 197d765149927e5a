import type { Socket } from 'node:net';
import { Client } from 'undici';
import { guardedConnector } from '../../../infrastructure/network/outbound.ts';
import type { Resolve } from '../../../infrastructure/network/resolve.ts';
import { type Clock, hasPassed } from '../../../infrastructure/runtime/clock.ts';

/** Origins that have idle connections only; beyond the limit the longest idle one is closed. */
export const MAX_IDLE_POOLS = 1_000;
/** Bounds how long a DNS change goes unnoticed: a new connection resolves and checks the name again. */
export const CONNECTION_LIFETIME_MS = 60_000;
/** Without a keep-alive hint: most servers keep an idle connection for five seconds or longer. */
const KEEP_ALIVE_MS = 4_000;
/** Subtracted from the endpoint's hint, so that no request meets a closing connection. */
const KEEP_ALIVE_MARGIN_MS = 2_000;
const MAX_HEADER_BYTES = 16 * 1024;
/**
 * Of one response with everything that no other limit counts, such as chunk extensions, the reason phrase and empty lines.
 * A body of 64 KB in chunks of one byte has 384 KB.
 */
const MAX_RECEIVED_BYTES = 1024 * 1024;

const CLIENT_OPTIONS = {
  // One request at a time on a connection, so that a slow response never delays another.
  pipelining: 1,
  allowH2: false,
  useMilo: false,
  maxHeaderSize: MAX_HEADER_BYTES,
  keepAliveTimeout: KEEP_ALIVE_MS,
  keepAliveTimeoutThreshold: KEEP_ALIVE_MARGIN_MS,
  keepAliveMaxTimeout: CONNECTION_LIFETIME_MS,
  // The exchange has its own timeout, which tests run in virtual time.
  headersTimeout: 0,
  bodyTimeout: 0,
};

type Pool = { readonly key: string; readonly connections: Set<Connection>; readonly idle: Connection[] };

/** An open connection or an attempt at one, used by one exchange at a time. */
export type Connection = {
  readonly client: Client;
  readonly pool: Pool;
  readonly openedAt: number;
  readonly stop: AbortController;
  /** Of the peer, or all that are being tried. */
  addresses: readonly string[];
  socket: Socket | undefined;
  /** Received on the socket before the current exchange. */
  bytesBefore: number;
};

export type Pools = {
  takeIdle(origin: string, allowPrivate: boolean): Connection | undefined;
  open(origin: string, allowPrivate: boolean): Connection;
  release(connection: Connection): void;
  /** Closes the connection and aborts its request. */
  drop(connection: Connection): Promise<void>;
  close(): Promise<void>;
};

/**
 * Connections by origin. Lanes limit the requests, so a pool never makes a request wait, and a slow tenant does not
 * delay another at the same origin. undici's Pool cannot abort the connection attempt of a timed-out exchange.
 */
export function createPools({ clock, resolve }: { clock: Clock; resolve: Resolve }): Pools {
  const pools = new Map<string, Pool>();
  /** Pools that have idle connections only, longest idle first. */
  const idlePools = new Set<Pool>();

  function takeIdle(origin: string, allowPrivate: boolean): Connection | undefined {
    const pool = pools.get(poolKey(origin, allowPrivate));
    if (pool === undefined) return undefined;
    const now = clock.now().getTime();
    // The most recently used connection is the least likely to be closed.
    for (let connection = pool.idle.pop(); connection; connection = pool.idle.pop()) {
      if (!hasPassed(CONNECTION_LIFETIME_MS, connection.openedAt, now)) {
        idlePools.delete(pool);
        connection.bytesBefore = connection.socket?.bytesRead ?? 0;
        return connection;
      }
      void drop(connection);
    }
    return undefined;
  }

  function open(origin: string, allowPrivate: boolean): Connection {
    const openedAt = clock.now().getTime();
    const pool = poolOf(poolKey(origin, allowPrivate));
    idlePools.delete(pool);
    const stop = new AbortController();
    const connect = guardedConnector({
      resolve,
      allowPrivate,
      signal: stop.signal,
      onAddress: (addresses) => {
        connection.addresses = addresses;
      },
      onSocket: (socket) => {
        connection.socket = socket;
        connection.bytesBefore = socket.bytesRead;
      },
    });
    const client = new Client(origin, { ...CLIENT_OPTIONS, connect });
    const connection: Connection = {
      client,
      pool,
      openedAt,
      stop,
      addresses: [],
      socket: undefined,
      bytesBefore: 0,
    };
    pool.connections.add(connection);
    // After undici has added its listener: the first listener of this event starts to read.
    client.on('connect', () => limitReceived(connection));
    client.on('disconnect', () => {
      // While a connection is in use, undici reports to its request or connects again.
      const index = pool.idle.indexOf(connection);
      if (index === -1) return;
      pool.idle.splice(index, 1);
      void drop(connection);
    });
    return connection;
  }

  function poolOf(key: string): Pool {
    const known = pools.get(key);
    if (known) return known;
    const pool = { key, connections: new Set<Connection>(), idle: [] };
    pools.set(key, pool);
    return pool;
  }

  function release(connection: Connection): void {
    const { pool } = connection;
    pool.idle.push(connection);
    noteIdle(pool);
  }

  function noteIdle(pool: Pool): void {
    if (pool.idle.length === 0 || pool.idle.length < pool.connections.size) return;
    idlePools.add(pool);
    if (idlePools.size <= MAX_IDLE_POOLS) return;
    const [longest] = idlePools;
    for (const idle of longest?.idle.splice(0) ?? []) void drop(idle);
  }

  function drop(connection: Connection): Promise<void> {
    const { client, pool, stop } = connection;
    pool.connections.delete(connection);
    if (pool.connections.size > 0) noteIdle(pool);
    else {
      idlePools.delete(pool);
      if (pools.get(pool.key) === pool) pools.delete(pool.key);
    }
    const ended = client.destroy();
    stop.abort();
    return ended;
  }

  async function close(): Promise<void> {
    const connections = Array.from(pools.values(), (pool) => {
      pool.idle.length = 0;
      return [...pool.connections];
    });
    await Promise.all(connections.flat().map(drop));
  }

  return { takeIdle, open, release, drop, close };
}

function limitReceived(connection: Connection): void {
  const { socket } = connection;
  socket?.on('readable', () => {
    if (socket.bytesRead - connection.bytesBefore > MAX_RECEIVED_BYTES)
      socket.destroy(Object.assign(new Error('response too large'), { code: 'RESPONSE_TOO_LARGE' }));
  });
}

/** A connection to a private address must never serve a request that may not reach one. */
function poolKey(origin: string, allowPrivate: boolean): string {
  return allowPrivate ? `private ${origin}` : origin;
}
