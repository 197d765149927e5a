import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { StartupError } from '../../runtime/startup-error.ts';
import { SUPERUSER } from './cluster.ts';
import { isErrorCode } from './file-problem.ts';
import { ensureRoles, handOverToOwner, OWNER, type RolePasswords } from './roles.ts';
import type { ServerProcess } from './server-process.ts';

/** Generous because replaying the journal after a crash is part of it. */
const READY_TIMEOUT_MS = 180_000;
const CONNECT_TIMEOUT_MS = 5_000;
const POLL_EVERY_MS = 25;
const DATABASE = 'portico';
const MAINTENANCE_DATABASE = 'postgres';
const STARTING_UP = '57P03';
const INVALID_PASSWORD = '28P01';
/** On a port lost to another PostgreSQL it is that one who refuses; ours ends well within this time. */
const TRUST_REFUSAL_AFTER_MS = 2_000;

export type Address = {
  readonly port: number;
  /** Of the superuser. */
  readonly password: string;
  readonly rolePasswords: RolePasswords;
};
type Login = { readonly port: number; readonly role?: string; readonly password: string };

export function databaseUrl({ port, role = SUPERUSER, password }: Login, database = DATABASE): string {
  return `postgresql://${role}:${encodeURIComponent(password)}@127.0.0.1:${port}/${database}`;
}

/** Until the server answers (`ready`), ends before it does (`died`), or has taken too long (`late`). */
export async function waitUntilReady(
  server: ServerProcess,
  address: Address,
): Promise<'ready' | 'died' | 'late'> {
  const giveUpAt = Date.now() + READY_TIMEOUT_MS;
  let refusedSince: number | undefined;
  while (Date.now() < giveUpAt) {
    if (server.isGone()) return 'died';
    try {
      // Whoever took our port may accept a connection and say nothing; the end of our server is then the answer.
      const isReady = ensureDatabase(address).then(() => true);
      if (await Promise.race([isReady, server.gone.then(() => false)])) return 'ready';
    } catch (error) {
      refusedSince = isRefusal(error) ? (refusedSince ?? Date.now()) : undefined;
      if (refusedSince !== undefined && Date.now() - refusedSince > TRUST_REFUSAL_AFTER_MS)
        throw refusal(error);
      await delay(POLL_EVERY_MS);
    }
  }
  return 'late';
}

/** Repeated until everything is there, so a crash between creating the cluster and this does no harm. */
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

/** An answer of PostgreSQL (they carry a five-character code) that will not change by waiting. */
function isRefusal(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code !== STARTING_UP;
}

function refusal(error: unknown): StartupError {
  return new StartupError(
    isErrorCode(error, INVALID_PASSWORD)
      ? 'The embedded PostgreSQL does not accept the password in postgres.password; restore the file that belongs to it.'
      : `The embedded PostgreSQL does not serve (${(error as Error).message}); its log is postgres.log in the data directory.`,
  );
}
