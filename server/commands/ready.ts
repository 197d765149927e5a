import type { App } from '../app.ts';
import type { Config } from '../infrastructure/config/config.ts';
import { failureOfDatabase } from '../infrastructure/database/failures.ts';
import { excessPrivilege, readRole } from '../infrastructure/database/grants.ts';
import { schemaState } from '../infrastructure/database/migrate.ts';
import { namesOfMissingIndexes } from '../infrastructure/database/partitions/partition-indexes.ts';
import { StartupError } from '../infrastructure/runtime/startup-error.ts';
import { migrateDatabase } from './migrate.ts';
import { type Opened, openApp, preparePartitions } from './resources.ts';

/** Opens the application, and checks or migrates its database. Nothing is started yet. */
export async function openReadyApp(
  config: Config,
  resources: AsyncDisposableStack,
  stop: AbortSignal,
  options?: { withRoutes: boolean },
): Promise<Opened> {
  const opened = await openApp(config, resources, { ...options, stop });
  logExposure(opened);
  stop.throwIfAborted();
  if (opened.embedded) await migrateDatabase(opened);
  else {
    await requireReadyDatabase(opened.app);
    await warnOfDatabaseRole(opened);
  }
  stop.throwIfAborted();
  await requireMasterKey(opened.app);
  return opened;
}

/** Logs the local defaults that are off and the unsafe settings that are on. */
function logExposure({ config: { exposure }, log }: Opened): void {
  if (!exposure) return;
  const { exposedBy, off, unsafe } = exposure;
  if (off.length > 0)
    log.warn({ exposed_by: exposedBy, off }, 'other machines can reach this service: local defaults are off');
  if (unsafe.length > 0)
    log.warn(
      { exposed_by: exposedBy, unsafe },
      'other machines can reach this service: unsafe settings are on',
    );
}

/** Only `migrate` changes the schema, because other nodes may be using the database. */
export async function requireReadyDatabase(app: App): Promise<void> {
  const { queries } = app.database;
  const state = await schemaState(queries);
  if (state === 'behind')
    throw new StartupError('The database is behind this version; run: npx portico migrate');
  await preparePartitions(app);
  // A newer version may have replaced some.
  const indexes = state === 'ahead' ? [] : await namesOfMissingIndexes(queries);
  if (indexes.length > 0) app.log.warn({ indexes }, 'indexes are missing; run portico migrate');
}

const ROLE_WARNINGS = {
  superuser: 'the database role of this service is a superuser',
  owner: 'the database role of this service owns its tables',
};

async function warnOfDatabaseRole({ app, log }: Opened): Promise<void> {
  const excess = await excessPrivilege(app.database);
  if (!excess) return;
  log.warn(
    { role: await readRole(app.database) },
    `${ROLE_WARNINGS[excess]}; name a role that owns nothing in PORTICO_DATABASE_URL and the owner in PORTICO_MIGRATION_DATABASE_URL for portico migrate (docs/operators/deploy.md, Two database roles)`,
  );
}

/** A wrong master key must fail the start, not the first token request. */
async function requireMasterKey(app: App): Promise<void> {
  try {
    await app.signingKeys.current();
  } catch (error) {
    if (failureOfDatabase(error)) throw error;
    const hint = 'restore master.key in the data directory, or set PORTICO_MASTER_KEY';
    throw new StartupError(`Stored secrets cannot be decrypted (${(error as Error).message}); ${hint}.`);
  }
}
