import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { StartupError } from '../../../runtime/startup-error.ts';
import { SUPERUSER } from '../cluster/cluster.ts';
import { ensureRoles, handOverToOwner, OWNER, type RolePasswords } from '../cluster/roles.ts';
import { isErrorCode } from '../data-dir/file-problem.ts';
import type { ServerProcess } from './server-process.ts';

/** Long, because crash recovery replays the write-ahead log first. */
const READY_TIMEOUT_MS = 180_000;
const CONNECT_TIMEOUT_MS = 5_000;
const POLL_EVERY_MS = 25;
const POLL_REFUSAL_EVERY_MS = 250;
const DATABASE = 'portico';
const MAINTENANCE_DATABASE = 'postgres';
const STARTING_UP = '57P03';
const INVALID_PASSWORD = '28P01';
/** When another PostgreSQL took the port, that one rejects the password; our server ends well within this time. */
const TRUST_REFUSAL_AFTER_MS = 2_000;

export type Address = {
  readonly port: number;
  readonly password: string;
  readonly rolePasswords: RolePasswords;
};
type Login = { readonly port: number; readonly role?: string; readonly password: string };

export function databaseUrl({ port, role = SUPERUSER, password }: Login, database = DATABASE): string {
  return `postgresql://${role}:${encodeURIComponent(password)}@127.0.0.1:${port}/${database}`;
}

/** Resolves when the server accepts queries (`ready`), ended before (`died`), or took too long (`late`). */
export async function waitUntilReady(
  server: ServerProcess,
  address: Address,
): Promise<'ready' | 'died' | 'late'> {
  const giveUpAt = Date.now() + READY_TIMEOUT_MS;
  let refusedSince: number | undefined;
  while (Date.now() < giveUpAt) {
    if (server.isGone()) return 'died';
    try {
      // Another process on our port may accept a connection and never answer; then our server ends.
      const isReady = ensureDatabase(address).then(() => true);
      if (await Promise.race([isReady, server.gone.then(() => false)])) return 'ready';
    } catch (error) {
      refusedSince = isRefusal(error) ? (refusedSince ?? Date.now()) : undefined;
      if (refusedSince !== undefined && Date.now() - refusedSince > TRUST_REFUSAL_AFTER_MS)
        throw refusal(error);
      await delay(refusedSince === undefined ? POLL_EVERY_MS : POLL_REFUSAL_EVERY_MS);
    }
  }
  return 'late';
}

/** Runs at every start, so a crash after the creation of the cluster is repaired. */
async function ensureDatabase(address: Address): Promise<void> {
  await asSuperuser(address, MAINTENANCE_DATABASE, async (client) => {
    await ensureRoles(client, address.rolePasswords);
    const { rowCount } = await client.query('select from pg_database where datname = $1', [DATABASE]);
    if (rowCount === 0) await client.query(`create database ${DATABASE} owner ${OWNER}`);
    else await client.query(`alter database ${DATABASE} owner to ${OWNER}`);
  });
  await asSuperuser(address, DATABASE, handOverToOwner);
}

async function asSuperuser(
  address: Address,
  database: string,
  work: (client: pg.Client) => Promise<void>,
): Promise<void> {
  const client = new pg.Client({
    connectionString: databaseUrl(address, database),
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await work(client);
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** A PostgreSQL error (with a five-character SQLSTATE) that waiting does not resolve. */
function isRefusal(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code !== STARTING_UP;
}

function refusal(error: unknown): StartupError {
  return new StartupError(
    isErrorCode(error, INVALID_PASSWORD)
      ? 'The embedded PostgreSQL rejects the password in postgres.password; restore the matching file.'
      : `The embedded PostgreSQL does not accept queries (${(error as Error).message}); its log is postgres.log in the data directory.`,
  );
}
