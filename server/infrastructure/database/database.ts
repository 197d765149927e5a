import { Kysely, type Transaction as KyselyTransaction, PostgresDialect } from 'kysely';
import pg from 'pg';
import { systemTimers, type Timers } from '../runtime/clock.ts';
import { type Failure, isFailure } from '../runtime/failure.ts';
import type { Log } from '../runtime/log.ts';
import type { Secret } from '../runtime/secret.ts';
import {
  boundPool,
  MAX_WAITING_PER_CONNECTION,
  MAX_WAITING_PER_RESERVED_CONNECTION,
  withListTimeout,
} from './connections/bounded-pool.ts';
import { createConnectionWatch } from './connections/connection-watch.ts';
import { shareOfPool } from './connections/pool-share.ts';
import { PreparingClient } from './prepared.ts';
import type { Tables } from './tables.ts';

export type Queries = Kysely<Tables>;
export type Transaction = KyselyTransaction<Tables>;

export type Database = {
  readonly queries: Queries;
  /** On connections of their own, which no number of other queries can use up: for authentication and leases. */
  readonly reserved: Queries;
  /**
   * On all reserved connections but one: for logins and revocations, which may wait for locks and must not hold up the
   * look-ups of tokens. Work in such a transaction waits for no other connection, and no other transaction waits for one
   * of these, so that none waits in a circle.
   */
  readonly authentication: Pick<Database, 'queries' | 'transaction'>;
  /** On the connections of `queries`, with the statement timeout of lists. */
  readonly lists: Queries;
  /** Commits what `work` did, unless it throws or returns a Failure: then nothing of it happened. */
  transaction<T>(work: (transaction: Transaction) => Promise<T>): Promise<T>;
  /** Calls back once the transaction has ended: for what may follow only from a commit. */
  onEnd(transaction: Transaction, action: (ending: Ending) => void): void;
  /** Connections of its own, without the time limit of requests unless one is given: for work such as migrations. */
  maintain<T>(work: (queries: Queries) => Promise<T>, limits?: { statementTimeoutMs?: number }): Promise<T>;
  close(): Promise<void>;
};

/** `unknown`: the connection broke at the commit, so it may have happened or not. */
export type Ending = 'committed' | 'rolled back' | 'unknown';

export const CONNECT_TIMEOUT_MS = 5_000;
/** Longer than for a connection: a person with a session waits out a flood of logins instead of being refused. */
export const MAX_WAIT_FOR_SHARE_MS = 10_000;
const IDLE_TIMEOUT_MS = 30_000;
/** No statement of a request takes longer; a runaway query must not hold a connection for ever. */
const STATEMENT_TIMEOUT_MS = 15_000;
/** Beyond the server's own limit, for its answer to arrive. */
const ANSWER_MARGIN_MS = 5_000;
/** The server ends a transaction whose client has vanished, so that its locks do not outlive it for long. */
const IDLE_IN_TRANSACTION_TIMEOUT_MS = 15_000;
/** For connections to close in order; after that they are destroyed. */
const CLOSE_WITHIN_MS = 2_000;
/** For the operating system to find a dead peer while no statement is under way. */
export const KEEP_ALIVE = { keepAlive: true, keepAliveInitialDelayMillis: 10_000 };

/** Kysely holds the migration lock on one and migrates on another. */
const MAINTENANCE_CONNECTIONS = 2;

const UUID_OID = 2950;
const INT8_OID = 20;

/** Without a number of `reserved` connections there is one pool for everything. */
export function createDatabase({
  url,
  connections,
  reserved = 0,
  log,
  timers = systemTimers,
}: {
  url: Secret;
  connections: number;
  reserved?: number;
  log: Log;
  /** For the health check of connections. */
  timers?: Timers | undefined;
}): Database {
  const common = { url, log, timers, statementTimeoutMs: STATEMENT_TIMEOUT_MS };
  const { queries, lists, close } = connect({ ...common, connections: connections - reserved });
  const apart =
    reserved > 0
      ? connect({
          ...common,
          connections: reserved,
          waitingPerConnection: MAX_WAITING_PER_RESERVED_CONNECTION,
        })
      : undefined;
  const authentication = apart?.share(Math.max(1, reserved - 1)) ?? queries;
  const endings: Endings = new WeakMap();
  return {
    queries,
    reserved: apart?.queries ?? queries,
    authentication: {
      queries: authentication,
      transaction: (work) => runTransaction(authentication, endings, work),
    },
    lists,
    transaction: (work) => runTransaction(queries, endings, work),
    onEnd: (transaction, action) => void endings.get(transaction)?.push(action),
    async maintain(work, limits = {}) {
      const unhurried = connect({ url, log, timers, ...limits, connections: MAINTENANCE_CONNECTIONS });
      return work(unhurried.queries).finally(unhurried.close);
    },
    close: async () => void (await Promise.all([close(), apart?.close()])),
  };
}

function connect({
  url,
  log,
  timers,
  connections,
  statementTimeoutMs,
  waitingPerConnection = MAX_WAITING_PER_CONNECTION,
}: {
  url: Secret;
  log: Log;
  timers: Timers;
  connections: number;
  statementTimeoutMs?: number;
  waitingPerConnection?: number;
}) {
  const pool = new pg.Pool({
    connectionString: url.reveal(),
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    idleTimeoutMillis: IDLE_TIMEOUT_MS,
    application_name: 'portico',
    Client: PreparingClient,
    // Statements of one connection that do not wait for each other's answers travel together.
    pipeline: true,
    types: { getTypeParser: parserFor as typeof pg.types.getTypeParser },
    ...KEEP_ALIVE,
    max: connections,
    ...(statementTimeoutMs === undefined ? {} : timeoutsOf(statementTimeoutMs)),
  });
  const answerTimeoutMs =
    statementTimeoutMs === undefined ? Number.POSITIVE_INFINITY : statementTimeoutMs + ANSWER_MARGIN_MS;
  const watch = createConnectionWatch({ timers, answerTimeoutMs });
  const open = new Set<pg.PoolClient>();
  const broke = (error: Error) => log.warn({ reason: error.message }, 'a database connection broke');
  // A broken connection is replaced by the pool; unheard, its error would end the process, idle or in use.
  pool.on('error', broke);
  pool.on('connect', (client) => {
    open.add(client);
    watch.add(client);
    client.on('error', broke);
  });
  pool.on('remove', (client) => {
    open.delete(client);
    watch.remove(client);
  });

  const bounded = boundPool(pool, connections * waitingPerConnection);
  const queries = new Kysely<Tables>({ dialect: new PostgresDialect({ pool: bounded }) });
  const lists = new Kysely<Tables>({ dialect: new PostgresDialect({ pool: withListTimeout(bounded) }) });
  const share = (most: number) =>
    new Kysely<Tables>({
      dialect: new PostgresDialect({
        pool: shareOfPool(bounded, { connections: most, maxWaitMs: MAX_WAIT_FOR_SHARE_MS, timers }),
      }),
    });
  /** The pool forgets a connection once it has said goodbye; whoever stops PostgreSQL next needs it gone. */
  async function close(): Promise<void> {
    // A silent connection never says goodbye.
    const cancel = timers.after(CLOSE_WITHIN_MS, watch.destroyAll);
    await queries.destroy();
    // Not `once` of node:events, which rejects when a connection breaks on the way.
    while (open.size > 0) await new Promise((resolve) => pool.once('remove', resolve));
    cancel();
  }
  return { queries, lists, share, close };
}

/** Only with a limit on statements: Kysely's migrator keeps its lock in a transaction that waits. */
function timeoutsOf(statementTimeoutMs: number): pg.PoolConfig {
  return {
    statement_timeout: statementTimeoutMs,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_TIMEOUT_MS,
  };
}

/** Guids are shown without dashes everywhere, and counts fit a number. */
function parserFor(oid: number, format?: 'text' | 'binary'): (value: string) => unknown {
  if (oid === UUID_OID) return (value) => value.replaceAll('-', '');
  if (oid === INT8_OID) return Number;
  return pg.types.getTypeParser(oid, format as 'text');
}

class Rollback extends Error {
  readonly failure: Failure;
  constructor(failure: Failure) {
    super('rolled back');
    this.failure = failure;
  }
}

type Endings = WeakMap<Transaction, ((ending: Ending) => void)[]>;

async function runTransaction<T>(
  queries: Queries,
  endings: Endings,
  work: (transaction: Transaction) => Promise<T>,
): Promise<T> {
  const actions: ((ending: Ending) => void)[] = [];
  let ending: Ending = 'rolled back';
  try {
    const result = await queries.transaction().execute(async (transaction) => {
      endings.set(transaction, actions);
      const outcome = await work(transaction);
      if (isFailure(outcome)) throw new Rollback(outcome);
      ending = 'unknown';
      return outcome;
    });
    ending = 'committed';
    return result;
  } catch (error) {
    if (error instanceof Rollback) return error.failure as T;
    throw error;
  } finally {
    for (const action of actions) action(ending);
  }
}
