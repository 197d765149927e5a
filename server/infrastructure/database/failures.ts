import { Failure } from '../runtime/failure.ts';
import { StartupError } from '../runtime/startup-error.ts';

/** No connection became free in time. */
export class PoolFull extends Error {}
export class ListTimeout extends Error {}

/** Marks a network error as one of the database, as opposed to a file store or an endpoint. */
const OF_DATABASE = Symbol('database error');

export function markDatabaseError(error: unknown): void {
  if (error instanceof Error) Object.assign(error, { [OF_DATABASE]: true });
}

const RETRY_AFTER_SECONDS = 1;

/** SQLSTATEs of a server that is starting or stopping, is read-only after a failover, or has a full disk. */
const UNAVAILABLE = new Set(['57P01', '57P02', '57P03', '25006', '53100']);
const CONNECTION_EXCEPTION_CLASS = '08';
/** SQLSTATEs of too many connections, no memory, and a statement or lock timeout. */
const OVERLOADED = new Set(['53300', '53200', '57014', '55P03']);
/** SQLSTATEs of a deadlock and of a serialization failure; the transaction was rolled back. */
const ROLLED_BACK = new Set(['40P01', '40001']);
/** Messages of pg for queries that lost their connection, and of Kysely for those that outlived it in a shutdown. */
const CONNECTION_LOST =
  /^(Connection terminated|Client has encountered a connection error|Query read timeout|Client was closed|driver has already been destroyed)/;

const UNIQUE_VIOLATION = '23505';

/** By a concurrent transaction or an existing row. Certain even if the error is the answer to the commit. */
export function wasRolledBack(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code } = error as { code?: unknown };
  return isSqlState(error, code) && (ROLLED_BACK.has(code) || code === UNIQUE_VIOLATION);
}

/** Maps a temporary database error to a failure with Retry-After. Undefined for other errors, such as bugs. */
export function failureOfDatabase(error: unknown): Failure | undefined {
  if (error instanceof ListTimeout)
    return overloaded(
      'The list took longer than 2 s; narrow it with created_at_gte and created_at_lt, or with fewer filter values',
    );
  if (error instanceof PoolFull) return overloaded('The service is overloaded; try again later');
  if (!(error instanceof Error)) return undefined;
  const { code } = error as { code?: unknown };
  const sqlState = isSqlState(error, code) ? code : undefined;
  if (sqlState !== undefined && OVERLOADED.has(sqlState))
    return overloaded('The database is overloaded; try again later');
  if (sqlState !== undefined && ROLLED_BACK.has(sqlState))
    return overloaded('The request conflicted with a concurrent one and changed nothing; send it again');
  if (OF_DATABASE in error) return unavailable();
  const isLost =
    sqlState === undefined
      ? CONNECTION_LOST.test(error.message)
      : UNAVAILABLE.has(sqlState) || sqlState.startsWith(CONNECTION_EXCEPTION_CLASS);
  return isLost ? unavailable() : undefined;
}

/** Of a start that such an error ended, for example because the disk is full. Undefined for bugs. */
export function startupErrorOf(error: unknown): StartupError | undefined {
  if (error instanceof StartupError) return error;
  // What was still open could not be closed either; the first error is the reason.
  if (error instanceof SuppressedError) return startupErrorOf(error.suppressed);
  if (!failureOfDatabase(error)) return undefined;
  return new StartupError(`The database failed (${(error as Error).message}); correct that and start again.`);
}

/** Errors that the server reported have a severity; network errors have none. */
function isSqlState(error: Error, code: unknown): code is string {
  return 'severity' in error && typeof code === 'string';
}

function overloaded(message: string): Failure {
  return new Failure('overloaded', message, { retryAfterSeconds: RETRY_AFTER_SECONDS });
}

function unavailable(): Failure {
  return new Failure('database_unavailable', 'The database is unavailable; try again later', {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}
