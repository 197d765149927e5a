import type { PostgresPool, PostgresPoolClient } from 'kysely';
import type pg from 'pg';
import { ListTimeout, markDatabaseError, PoolFull } from '../failures.ts';
import { READ_ONLY_TRANSACTION } from './read-only.ts';

/**
 * Queries that may wait, per connection of the pool. A further query fails at once, because its caller would have timed
 * out by its turn.
 */
export const MAX_WAITING_PER_CONNECTION = 25;
/** Higher, because queries on reserved connections read or write a few rows, so a burst of token requests may wait. */
export const MAX_WAITING_PER_RESERVED_CONNECTION = 250;
/** The message of pg-pool when a query waited too long for a connection. */
const WAIT_TIMED_OUT = 'timeout exceeded when trying to connect';
/**
 * Settings of lists: a short timeout and index scans only. The planner estimates from average tenants and values, and
 * would scan a whole table for a value that it considers common.
 */
const SETTINGS = ['statement_timeout = 2000', 'enable_seqscan = off', 'enable_bitmapscan = off', 'jit = off'];
export const LIST_SETTINGS = SETTINGS.map((setting) => `set ${setting}`).join('; ');
const LOCAL_LIST_SETTINGS = SETTINGS.map((setting) => `set local ${setting}`).join('; ');
/** As Kysely writes them; a savepoint does not begin or end a transaction. */
const BEGIN = /^(begin|start transaction)\b/i;
const END = /^(commit|rollback)$/i;
const QUERY_CANCELED = '57014';

/** A field that pg has beyond its types. */
type ConnectedClient = pg.PoolClient & {
  connection: { on(event: 'errorMessage', listener: (error: { code?: string }) => void): unknown };
};
type Send = (text: string, values?: readonly unknown[]) => Promise<unknown>;

/**
 * Limits the queries that wait for a connection, marks connection errors as errors of the database, and discards a
 * connection whose server refused a write as read-only.
 */
export function boundPool(pool: pg.Pool, maxWaiting: number): PostgresPool {
  pool.on('connect', (client) => {
    client.on('error', markDatabaseError);
    discardReadOnly(client as ConnectedClient);
  });
  return {
    options: pool.options,
    async connect() {
      if (pool.waitingCount >= maxWaiting)
        throw new PoolFull('too many queries are waiting for a connection');
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

/** When it is released: until then its transaction can be rolled back, and its caller gets the error of the write. */
function discardReadOnly(client: ConnectedClient): void {
  client.connection.on('errorMessage', ({ code }) => {
    if (code !== READ_ONLY_TRANSACTION) return;
    // The pool sets another one for every use of the connection.
    const { release } = client;
    client.release = () => release(true);
  });
}

/**
 * The same connections, without statements after the end of their transaction or their release. When a statement has
 * failed, others of the same transaction may still come. They would run outside of it or in that of the next user.
 */
export function refuseLateStatements(pool: PostgresPool): PostgresPool {
  return {
    options: pool.options,
    async connect() {
      const client = await pool.connect();
      const send = client.query.bind(client) as unknown as Send;
      let isOver = false;
      const query: Send = (text, values) => {
        const ends = END.test(text);
        if (isOver && !ends && !BEGIN.test(text))
          return Promise.reject(new Error('the transaction of this statement has ended'));
        isOver = ends;
        return send(text, values);
      };
      return {
        query: query as unknown as PostgresPoolClient['query'],
        release(...args) {
          isOver = true;
          client.release(...args);
        },
      };
    },
    end: () => pool.end(),
  };
}

/**
 * The same connections with the settings of lists. The settings are local to a transaction around each statement, so
 * they work with a pooler in transaction mode and end with the transaction. All statements are pipelined, so this costs
 * no round trip.
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
        // Their errors are connection errors, which the statement reports too.
        void Promise.allSettled([...before, ...after]);
        return result.catch(rethrow);
      };
      return {
        query: query as unknown as PostgresPoolClient['query'],
        release: (...args) => client.release(...args),
      };
    },
    end: async () => {},
  };
}

function rethrow(error: unknown): never {
  throw (error as { code?: unknown }).code === QUERY_CANCELED
    ? new ListTimeout('a list was canceled by its statement timeout', { cause: error })
    : error;
}
