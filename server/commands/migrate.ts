import pg from 'pg';
import type { Config } from '../infrastructure/config/config.ts';
import { createDatabase, type Database } from '../infrastructure/database/database.ts';
import { grantToService, isSameDatabase, readRole } from '../infrastructure/database/grants.ts';
import { migrate as applyMigrations, schemaState } from '../infrastructure/database/migrate.ts';
import {
  buildMissingIndexes,
  namesOfMissingIndexes,
} from '../infrastructure/database/partitions/partition-indexes.ts';
import { StartupError } from '../infrastructure/runtime/startup-error.ts';
import { type Opened, openApp, preparePartitions } from './resources.ts';

const INSUFFICIENT_PRIVILEGE = '42501';

export async function migrate(config: Config): Promise<void> {
  await using resources = new AsyncDisposableStack();
  const { applied, missingIndexes } = await migrateDatabase(await openApp(config, resources));
  for (const name of applied) process.stdout.write(`applied ${name}\n`);
  if (missingIndexes.length > 0)
    throw new StartupError(
      `Indexes are missing (${missingIndexes.join(', ')}): another migrate builds them, or the log has the reason; run migrate again before you replace nodes.`,
    );
  if (applied.length === 0) process.stdout.write('The database is up to date.\n');
}

type Migrated = { applied: string[]; missingIndexes: string[] };

/** Leaves a database that a newer version migrated unchanged; this version can run on it. */
export async function migrateDatabase({
  app,
  log,
  ownerUrl,
}: Pick<Opened, 'app' | 'log' | 'ownerUrl'>): Promise<Migrated> {
  const owner = createDatabase({ url: ownerUrl, connections: 1, log });
  try {
    await requireSameDatabase(app.database, owner);
    const { applied, isAhead } = await applyMissing(owner, await readRole(app.database));
    // Before the indexes, which may take long: running nodes need the partitions.
    await preparePartitions(app);
    if (isAhead) return { applied, missingIndexes: [] };
    await buildMissingIndexes({ database: owner, log });
    return { applied, missingIndexes: await namesOfMissingIndexes(owner.queries) };
  } finally {
    await owner.close();
  }
}

/** Otherwise one database would be migrated and the other served. */
async function requireSameDatabase(service: Database, owner: Database): Promise<void> {
  if (await isSameDatabase(service, owner).catch(throwUnusable)) return;
  throw new StartupError(
    'PORTICO_DATABASE_URL and PORTICO_MIGRATION_DATABASE_URL name different databases; name the same one in both.',
  );
}

function throwUnusable(error: unknown): never {
  throw new StartupError(`The database could not be migrated (${reasonOf(error)}).`);
}

/** The usual cause of a missing privilege is that the URL names the service's own role. */
function reasonOf(error: unknown): string {
  const { message } = error as Error;
  if (!(error instanceof pg.DatabaseError) || error.code !== INSUFFICIENT_PRIVILEGE) return message;
  return `${message}; set PORTICO_MIGRATION_DATABASE_URL to the address with the role that owns the database and its tables`;
}

async function applyMissing(
  owner: Database,
  serviceRole: string,
): Promise<{ applied: string[]; isAhead: boolean }> {
  try {
    const state = await schemaState(owner.queries);
    const isAhead = state === 'ahead';
    const applied = state === 'behind' ? await applyMigrations(owner) : [];
    if (!isAhead) await grantToService(owner, serviceRole);
    return { applied, isAhead };
  } catch (error) {
    throwUnusable(error);
  }
}
