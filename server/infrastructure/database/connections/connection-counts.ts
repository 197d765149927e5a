/** Apart from the pool, because the settings are checked by every command, also by those without a database. */

/** With fewer, one Organization could use all connections that are not reserved. */
export const MIN_CONNECTIONS = 5;
/**
 * One in five, up to the number that authentication and leases can use. At least two: a login or a lease that waits for
 * a lock must not block token lookups.
 */
const RESERVED_SHARE = 5;
const MAX_RESERVED = 4;
const MIN_RESERVED = 2;

export function reservedConnections(connections: number): number {
  return Math.min(MAX_RESERVED, Math.max(MIN_RESERVED, Math.floor(connections / RESERVED_SHARE)));
}

/**
 * The share of one Organization in the other connections: a second Organization always finds a free connection, and for
 * lists, an idle database.
 */
const SHARE_OF_LISTS = 1 / 4;
const SHARE_OF_OTHER_CALLS = 1 / 2;
const MIN_OF_ONE = 2;

export function connectionsOfOne(connections: number): { list: number; other: number } {
  const general = connections - reservedConnections(connections);
  const part = (share: number) => Math.max(MIN_OF_ONE, Math.floor(general * share));
  return { list: part(SHARE_OF_LISTS), other: part(SHARE_OF_OTHER_CALLS) };
}
