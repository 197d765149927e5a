import type { Duplex } from 'node:stream';
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
  refuseLateStatements,
  withListTimeout,
} from './connections/bounded-pool.ts';
import { createConnectionWatch } from './connections/connection-watch.ts';
import { shareOfPool } from './connections/pool-share.ts';
import { wasRolledBack } from './failures.ts';
import { PreparingClient } from './prepared.ts';
import type { Tables } from './tables.ts';

export type Queries = Kysely<Tables>;
export type Transaction = KyselyTransaction<Tables>;

export type Database = {
  readonly queries: Queries;
  /** Connections for authentication and leases, which other queries cannot exhaust. */
  readonly reserved: Queries;
  /**
   * All reserved connections but one, for logins and revocations: they may wait for locks and must not block token
   * lookups. Such a transaction uses no second connection, so it cannot deadlock with the pool.
   */
  readonly authentication: Pick<Database, 'queries' | 'transaction'>;
  /** The connections of `queries` with the statement timeout of lists. */
  readonly lists: Queries;
  /** Commits, unless `work` throws or returns a Failure: then it rolls back. */
  transaction<T>(work: (transaction: Transaction) => Promise<T>): Promise<T>;
  /** Calls `action` after the transaction has ended. */
  onEnd(transaction: Transaction, action: (ending: Ending) => void): void;
  /**
   * Uses a connection of its own, without the statement timeout of requests unless one is given: for work such as
   * migrations.
   */
  maintain<T>(work: (queries: Queries) => Promise<T>, limits?: { statementTimeoutMs?: number }): Promise<T>;
  close(): Promise<void>;
};

/** `unknown`: the connection failed during the commit. */
export type Ending = 'committed' | 'rolled back' | 'unknown';

/** Creates the unconnected stream of one connection, with `connect(port, host)` like a socket. */
export type DatabaseStream = () => Duplex;

export const CONNECT_TIMEOUT_MS = 5_000;
/** Longer than for a connection: a user with a session waits out a flood of logins. */
export const MAX_WAIT_FOR_SHARE_MS = 10_000;
const IDLE_TIMEOUT_MS = 30_000;
/** A runaway query must not hold a connection. */
const STATEMENT_TIMEOUT_MS = 15_000;
/** Added to the server's timeout, for its answer to arrive. */
const ANSWER_MARGIN_MS = 5_000;
/** The server ends a transaction whose client has vanished, which releases its locks. */
const IDLE_IN_TRANSACTION_TIMEOUT_MS = 15_000;
/** Connections are destroyed after this time. */
const CLOSE_WITHIN_MS = 2_000;
/** Lets the operating system detect a dead peer while no statement is running. */
export const KEEP_ALIVE = { keepAlive: true, keepAliveInitialDelayMillis: 10_000 };

const UUID_OID = 2950;
const INT8_OID = 20;
const BYTEA_OID = 17;

/** Without `reserved` connections there is one pool for everything. */
export function createDatabase({
  url,
  connections,
  reserved = 0,
  log,
  timers = systemTimers,
  stream,
}: {
  url: Secret;
  connections: number;
  reserved?: number;
  log: Log;
  /** For the health check of connections. */
  timers?: Timers | undefined;
  stream?: DatabaseStream | undefined;
}): Database {
  const common = { url, log, timers, stream, statementTimeoutMs: STATEMENT_TIMEOUT_MS, forRequests: true };
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
      const unhurried = connect({ url, log, timers, stream, ...limits, connections: 1 });
      return work(unhurried.queries).finally(unhurried.close);
    },
    close: async () => void (await Promise.all([close(), apart?.close()])),
  };
}

function connect({
  url,
  log,
  timers,
  stream,
  connections,
  statementTimeoutMs,
  forRequests = false,
  waitingPerConnection = MAX_WAITING_PER_CONNECTION,
}: {
  url: Secret;
  log: Log;
  timers: Timers;
  stream: DatabaseStream | undefined;
  connections: number;
  statementTimeoutMs?: number;
  forRequests?: boolean;
  waitingPerConnection?: number;
}) {
  const pool = new pg.Pool({
    connectionString: url.reveal(),
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    idleTimeoutMillis: IDLE_TIMEOUT_MS,
    application_name: 'portico',
    Client: PreparingClient,
    // Statements of one connection are sent without waiting for each other's answers.
    pipeline: true,
    types: { getTypeParser: parserFor as typeof pg.types.getTypeParser },
    ...KEEP_ALIVE,
    ...(stream && { stream }),
    max: connections,
    ...(statementTimeoutMs === undefined ? UNLIMITED : timeoutsOf(statementTimeoutMs)),
  });
  const answerTimeoutMs =
    statementTimeoutMs === undefined ? Number.POSITIVE_INFINITY : statementTimeoutMs + ANSWER_MARGIN_MS;
  const watch = createConnectionWatch({ timers, answerTimeoutMs });
  const open = new Set<pg.PoolClient>();
  const broke = (error: Error) => log.warn({ reason: error.message }, 'database connection failed');
  // The pool replaces a broken connection; without a listener its error would end the process.
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

  const pooled = boundPool(pool, connections * waitingPerConnection);
  // Maintenance uses one connection for many transactions, and for statements between them.
  const bounded = forRequests ? refuseLateStatements(pooled) : pooled;
  const queries = new Kysely<Tables>({ dialect: new PostgresDialect({ pool: bounded }) });
  const lists = new Kysely<Tables>({ dialect: new PostgresDialect({ pool: withListTimeout(bounded) }) });
  const share = (most: number) =>
    new Kysely<Tables>({
      dialect: new PostgresDialect({
        pool: shareOfPool(bounded, { connections: most, maxWaitMs: MAX_WAIT_FOR_SHARE_MS, timers }),
      }),
    });
  /** pg-pool drops a connection before it is closed. PostgreSQL may be stopped next, so this waits for the close. */
  async function close(): Promise<void> {
    // A silent connection never confirms the close.
    const cancel = timers.after(CLOSE_WITHIN_MS, watch.destroyAll);
    await queries.destroy();
    // `once` of node:events would reject when a connection breaks meanwhile.
    while (open.size > 0) await new Promise((resolve) => pool.once('remove', resolve));
    cancel();
  }
  return { queries, lists, share, close };
}

/**
 * A migration waits for the others' lock, and an export for its reader. The role may have limits of its own, for a pooler,
 * which refuses parameters that its settings do not name (docs/operators/deploy.md, Poolers). As text, because pg leaves
 * out the number 0.
 */
const UNLIMITED = { statement_timeout: '0', idle_in_transaction_session_timeout: '0' } as object;

function timeoutsOf(statementTimeoutMs: number): pg.PoolConfig {
  return {
    statement_timeout: statementTimeoutMs,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_TIMEOUT_MS,
  };
}

/** Guids have no dashes, and counts are numbers. */
function parserFor(oid: number, format?: 'text' | 'binary'): (value: string) => unknown {
  const parse = pg.types.getTypeParser(oid, format as 'text');
  if (oid === UUID_OID) return withoutDashes;
  if (oid === INT8_OID) return Number;
  return oid === BYTEA_OID ? (value) => unpooled(parse(value)) : parse;
}

/** Called for every guid of every row: almost twice as fast as `replaceAll`. */
function withoutDashes(uuid: string): string {
  return uuid.slice(0, 8) + uuid.slice(9, 13) + uuid.slice(14, 18) + uuid.slice(19, 23) + uuid.slice(24);
}

/** A small Buffer is part of a larger one. Keys and hashes are cached, and each would keep 64 KB in memory. */
function unpooled(bytes: Buffer): Buffer {
  const copy = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(copy);
  return copy;
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
    if (wasRolledBack(error)) ending = 'rolled back';
    throw error;
  } finally {
    for (const action of actions) action(ending);
  }
}
