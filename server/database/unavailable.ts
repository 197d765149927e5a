import pg from 'pg';

/**
 * Whether an error says that the database cannot be used at the moment, so that the same call may succeed later. An
 * error about the statement or its data is not one.
 */
export function isDatabaseUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof AggregateError) return error.errors.some(isDatabaseUnavailable);
  const { code } = error as { code?: unknown };
  if (typeof code === 'string')
    return error instanceof pg.DatabaseError ? SQL_STATES.test(code) : NETWORK_CODES.has(code);
  return CLIENT_MESSAGES.some((message) => error.message.startsWith(message));
}

/**
 * PostgreSQL's classes 08 (connection), 53 (resources) and 57P (shutdown, starting up, dropped), a statement or lock
 * timeout (57014, 55P03), and a write on a standby that is not promoted yet (25006).
 */
const SQL_STATES = /^(08...|53...|57P0[1-5]|57014|55P03|25006)$/;

const NETWORK_CODES: ReadonlySet<string> = new Set([
  ...['ECONNREFUSED', 'ECONNRESET', 'ECONNABORTED', 'EPIPE', 'ETIMEDOUT', 'ENOTCONN'],
  ...['ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'EHOSTDOWN', 'ENETUNREACH', 'ENETDOWN'],
]);

/** Errors that pg makes itself have no code. */
const CLIENT_MESSAGES = [
  'Connection terminated',
  'timeout expired',
  'timeout exceeded when trying to connect',
  'Query read timeout',
  'Client has encountered a connection error and is not queryable',
  'Client was closed and is not queryable',
  'Cannot use a pool after calling end on the pool',
  'Postgres connection has been discarded',
];
