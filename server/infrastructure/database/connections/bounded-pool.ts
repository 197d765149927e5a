import type { PostgresPool, PostgresPoolClient } from 'kysely';
import type pg from 'pg';
import { ListTimeout, markDatabaseError, PoolFull } from '../failures.ts';

/**
 * Queries waiting for a connection, for each connection of the pool. A further query is refused at once: by the time
 * its turn came, the caller would have given up.
 */
export const MAX_WAITING_PER_CONNECTION = 25;
/** The same for reserved connections: each reads or writes a few rows, so a burst of token requests may wait. */
export const MAX_WAITING_PER_RESERVED_CONNECTION = 250;
/** What pg-pool says of a query that waited for a connection too long. */
const WAIT_TIMED_OUT = 'timeout exceeded when trying to connect';
/**
 * The longest that a list may take. And it goes by the indexes: the planner knows tenants and values on the average,
 * and would read a whole table for a value that it takes for a common one.
 */
const SETTINGS = ['statement_timeout = 2000', 'enable_seqscan = off', 'enable_bitmapscan = off', 'jit = off'];
export const LIST_SETTINGS = SETTINGS.map((setting) => `set ${setting}`).join('; ');
const LOCAL_LIST_SETTINGS = SETTINGS.map((setting) => `set local ${setting}`).join('; ');
/** As Kysely writes them; a savepoint does not begin or end a transaction. */
const BEGIN = /^(begin|start transaction)\b/i;
const END = /^(commit|rollback)$/i;
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
export function boundPool(pool: pg.Pool, maxWaiting: number): PostgresPool {
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
 * The same connections with the settings of lists. They are local to a transaction around each statement: a pooler in
 * transaction mode sends all of it to one server connection, and the settings end with it even when the statement
 * fails, which turns the commit into a rollback. All of it travels together, so it costs no round trip.
 */
export function withListTimeout(pool: PostgresPool): PostgresPool {
  return {
    options: pool.options,
    async connect() {
      const client = await pool.connect();
      const send = client.query.bind(client) as unknown as Send;
      let inTransaction = false;
      const query: Send = (text, values) => {
        const before: Promise<unknown>[] = [];
        const after: Promise<unknown>[] = [];
        const begins = BEGIN.test(text);
        if (!begins && !inTransaction) before.push(send(`begin; ${LOCAL_LIST_SETTINGS}`));
        const result = send(text, values);
        if (begins) after.push(send(LOCAL_LIST_SETTINGS));
        else if (!inTransaction) after.push(send('commit'));
        inTransaction = begins || (inTransaction && !END.test(text));
        // Their errors are those of the connection, which the statement reports too.
        void Promise.allSettled([...before, ...after]);
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
