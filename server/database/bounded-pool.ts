import type { PostgresPool, PostgresPoolClient } from 'kysely';
import type pg from 'pg';
import { ListTimeout, markDatabaseError, PoolFull } from './failures.ts';

/**
 * Queries waiting for a connection, for each connection of the pool. A further query is refused at once: by the time
 * its turn came, the caller would have given up.
 */
const MAX_WAITING_PER_CONNECTION = 25;
/** What pg-pool says of a query that waited for a connection too long. */
const WAIT_TIMED_OUT = 'timeout exceeded when trying to connect';
/**
 * The longest that a list may take. And it goes by the indexes: the planner knows tenants and values on the average,
 * and would read a whole table for a value that it takes for a common one.
 */
export const LIST_SETTINGS = `
  set statement_timeout = 2000; set enable_seqscan = off; set enable_bitmapscan = off; set jit = off`;
const RESET_LIST_SETTINGS = `
  reset statement_timeout; reset enable_seqscan; reset enable_bitmapscan; reset jit`;
const QUERY_CANCELED = '57014';

/** With fewer, one Organization could use all connections that are not reserved. */
export const MIN_CONNECTIONS = 5;
/**
 * One in five, and not more than are ever busy with authentication and leases. At least two: a login or a lease that
 * waits for a lock must not hold up the look-ups of tokens.
 */
const RESERVED_SHARE = 5;
const MAX_RESERVED = 4;
const MIN_RESERVED = 2;

export function reservedConnections(connections: number): number {
  return Math.min(MAX_RESERVED, Math.max(MIN_RESERVED, Math.floor(connections / RESERVED_SHARE)));
}

/**
 * One Organization uses at most a part of the others: so that a second one never waits for a connection, and, of lists,
 * that the database has not much else to do when its query comes.
 */
const SHARE_OF_LISTS = 1 / 4;
const SHARE_OF_OTHER_CALLS = 1 / 2;
const MIN_OF_ONE = 2;

export function connectionsOfOne(connections: number): { list: number; other: number } {
  const general = connections - reservedConnections(connections);
  const part = (share: number) => Math.max(MIN_OF_ONE, Math.floor(general * share));
  return { list: part(SHARE_OF_LISTS), other: part(SHARE_OF_OTHER_CALLS) };
}

type Send = (text: string, values?: readonly unknown[]) => Promise<unknown>;

/** The pool, with a bound on the queries that wait for it, and with its connection errors marked as the database's. */
export function boundPool(pool: pg.Pool, connections: number): PostgresPool {
  const maxWaiting = connections * MAX_WAITING_PER_CONNECTION;
  pool.on('connect', (client) => client.on('error', markDatabaseError));
  return {
    options: pool.options,
    async connect() {
      if (pool.waitingCount >= maxWaiting) throw new PoolFull('too many queries wait for a connection');
      try {
        return (await pool.connect()) as unknown as PostgresPoolClient;
      } catch (error) {
        if (error instanceof Error && error.message === WAIT_TIMED_OUT) throw new PoolFull(error.message);
        markDatabaseError(error);
        throw error;
      }
    },
    end: () => pool.end(),
  };
}

/**
 * The same connections with the settings of lists. The settings travel in the same packet as the statement, so
 * they cost no round trip, and those of the connection are restored whatever becomes of the statement.
 */
export function withListTimeout(pool: PostgresPool): PostgresPool {
  return {
    options: pool.options,
    async connect() {
      const client = await pool.connect();
      const send = client.query.bind(client) as unknown as Send;
      const query: Send = (text, values) => {
        const settings = [send(LIST_SETTINGS)];
        const result = send(text, values);
        settings.push(send(RESET_LIST_SETTINGS));
        // Their errors are those of the connection, which the statement reports too.
        void Promise.allSettled(settings);
        return result.catch(rethrow);
      };
      return {
        query: query as unknown as PostgresPoolClient['query'],
        release: (...args) => client.release(...args),
      };
    },
    // The connections are closed with the pool that they belong to.
    end: async () => {},
  };
}

function rethrow(error: unknown): never {
  throw (error as { code?: unknown }).code === QUERY_CANCELED
    ? new ListTimeout('a list was canceled by its statement timeout', { cause: error })
    : error;
}
