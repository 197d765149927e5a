import { Failure } from '../runtime/failure.ts';

/** No connection was free, and none became free in time. */
export class PoolFull extends Error {}
/** A list took longer than a list may. */
export class ListTimeout extends Error {}

/** On an error of the network it tells that the peer was the database, and not a store or an endpoint. */
const OF_DATABASE = Symbol('database error');

export function markDatabaseError(error: unknown): void {
  if (error instanceof Error) Object.assign(error, { [OF_DATABASE]: true });
}

const RETRY_AFTER_SECONDS = 1;

/** SQLSTATE codes: the server shuts down or starts, went read-only in a failover, or its disk is full. */
const UNAVAILABLE = new Set(['57P01', '57P02', '57P03', '25006', '53100']);
const CONNECTION_EXCEPTION_CLASS = '08';
/** Too many connections at the server, out of memory, and a statement or a lock that took too long. */
const OVERLOADED = new Set(['53300', '53200', '57014', '55P03']);
/** The transaction lost against a concurrent one, by a deadlock or a serialization failure, and was rolled back. */
const ROLLED_BACK = new Set(['40P01', '40001']);
/** What pg says of queries whose connection went away. */
const CONNECTION_LOST =
  /^(Connection terminated|Client has encountered a connection error|Query read timeout|Client was closed)/;

/** What an error of the database means to a caller: come again. Undefined for everything else, such as a bug. */
export function failureOfDatabase(error: unknown): Failure | undefined {
  if (error instanceof ListTimeout)
    return overloaded(
      'The list took longer than 2 s. Narrow it with created_at_gte and created_at_lt, or with fewer filter values',
    );
  if (error instanceof PoolFull) return overloaded('The service is overloaded; try again in a moment');
  if (!(error instanceof Error)) return undefined;
  const { code } = error as { code?: unknown };
  const sqlState = isSqlState(error, code) ? code : undefined;
  if (sqlState !== undefined && OVERLOADED.has(sqlState))
    return overloaded('The database is overloaded; try again in a moment');
  if (sqlState !== undefined && ROLLED_BACK.has(sqlState))
    return overloaded('The request conflicted with a concurrent one and changed nothing; try again');
  if (OF_DATABASE in error) return unavailable();
  const isLost =
    sqlState === undefined
      ? CONNECTION_LOST.test(error.message)
      : UNAVAILABLE.has(sqlState) || sqlState.startsWith(CONNECTION_EXCEPTION_CLASS);
  return isLost ? unavailable() : undefined;
}

/** pg gives what the server reported a severity; errors of the network have none. */
function isSqlState(error: Error, code: unknown): code is string {
  return 'severity' in error && typeof code === 'string';
}

function overloaded(message: string): Failure {
  return new Failure('overloaded', message, { retryAfterSeconds: RETRY_AFTER_SECONDS });
}

function unavailable(): Failure {
  return new Failure('database_unavailable', 'The database is unavailable; try again in a moment', {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}
