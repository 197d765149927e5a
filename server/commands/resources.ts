import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import pg from 'pg';
import { type App, createApp } from '../app.ts';
import { ensureDashboardBuild } from '../dashboard/build.ts';
import { type DashboardFiles, readDashboardFiles } from '../dashboard/files.ts';
import type { Config } from '../infrastructure/config/config.ts';
import { type CompleteConfig, completeSecrets } from '../infrastructure/config/generated-secrets.ts';
import { lockDataDir } from '../infrastructure/database/embedded/data-dir/data-dir.ts';
import { startEmbeddedPostgres } from '../infrastructure/database/embedded/embedded-postgres.ts';
import { excessPrivilege, readRole } from '../infrastructure/database/grants.ts';
import { schemaState } from '../infrastructure/database/migrate.ts';
import { systemClock, systemTimers } from '../infrastructure/runtime/clock.ts';
import { createLog, type Log } from '../infrastructure/runtime/log.ts';
import { Secret } from '../infrastructure/runtime/secret.ts';
import { StartupError } from '../infrastructure/runtime/startup-error.ts';
import { createCourierThread } from '../webhooks/deliveries/sending/sender-thread.ts';

/** What a command opened, closed in reverse order whatever happens. */
export type Opened = {
  app: App;
  config: CompleteConfig;
  log: Log;
  embedded: boolean;
  /** The database as the owner of its tables. */
  ownerUrl: Secret;
};

/**
 * Opens the database (the embedded one when no other is named) and makes the app on it. Everything is
 * registered with `resources` as it is opened, so a failure half-way leaves nothing behind.
 */
export async function openApp(
  config: Config,
  resources: AsyncDisposableStack,
  { withDashboard = false } = {},
): Promise<Opened> {
  const embedded = config.databaseUrl === undefined;
  const terminal = process.stdout.isTTY === true;
  const log = createLog({ level: config.logLevel, terminal });
  if (embedded) {
    const lock = await lockDataDir(config.dataDir);
    resources.defer(() => lock.release());
  }
  const complete = await completeSecrets(config, randomBytes);
  // A build takes seconds, so whatever is wrong with the folder is told before.
  const dashboard = withDashboard ? await openDashboard() : undefined;
  const { databaseUrl, ownerUrl } =
    config.databaseUrl === undefined
      ? await openEmbedded(config.dataDir, resources)
      : {
          databaseUrl: config.databaseUrl,
          ownerUrl: config.migrationDatabaseUrl ?? config.databaseUrl,
        };
  const time = { clock: systemClock, timers: systemTimers };
  const courier = createCourierThread({ ...time, log });
  const app = await createApp({
    ...{ config: complete, databaseUrl, log, randomBytes, dashboard, courier },
    operatorOnMainPort: embedded && config.exposure === undefined,
    ...{ ...time, databaseTimers: systemTimers },
  });
  resources.defer(() => app.close());
  await requireReachable(app, databaseUrl);
  return { app, config: complete, log, embedded, ownerUrl };
}

/** What it says goes to the error stream, beside the words of the set-up. */
async function openDashboard(): Promise<DashboardFiles | undefined> {
  const folder = await ensureDashboardBuild((text) => process.stderr.write(text));
  return folder === undefined ? undefined : await readDashboardFiles(folder);
}

async function openEmbedded(dataDir: string, resources: AsyncDisposableStack) {
  const postgres = await startEmbeddedPostgres({ dataDir });
  let stopping = false;
  resources.defer(() => {
    stopping = true;
    return postgres.stop();
  });
  // Without its database the service is of no use; whoever watches over it can start both again.
  void postgres.ended.then(() => {
    if (stopping) return;
    process.stderr.write(
      `portico: The embedded PostgreSQL has ended; see ${join(dataDir, 'postgres.log')}.\n`,
    );
    process.exitCode = 1;
    process.kill(process.pid, 'SIGTERM');
  });
  return { databaseUrl: new Secret(postgres.url), ownerUrl: new Secret(postgres.ownerUrl) };
}

async function requireReachable(app: App, databaseUrl: Secret): Promise<void> {
  try {
    await schemaState(app.database.queries);
  } catch (error) {
    const { host, pathname } = new URL(databaseUrl.reveal());
    const { code, message } = error as NodeJS.ErrnoException;
    // PostgreSQL explains itself and numbers its answers; of the network only the code says what happened.
    const reason = error instanceof pg.DatabaseError ? message : (code ?? message);
    throw new StartupError(`The database ${pathname.slice(1)} at ${host} cannot be used (${reason}).`);
  }
}

/** The key to what is stored must be the right one before anything is served, not at the first token. */
export async function requireMasterKey(app: App): Promise<void> {
  try {
    await app.signingKeys.current();
  } catch (error) {
    const hint = 'restore master.key in the data directory, or set PORTICO_MASTER_KEY';
    throw new StartupError(`What is stored cannot be decrypted (${(error as Error).message}); ${hint}.`);
  }
}

/** Nobody but `migrate` changes the schema of a database that others may be using. */
export async function requireReadyDatabase(app: App): Promise<void> {
  if ((await schemaState(app.database.queries)) === 'behind')
    throw new StartupError('The database is behind this version; run: npx portico migrate');
  await preparePartitions(app);
}

const ROLE_WARNINGS = {
  superuser: 'the database role of this service is a superuser',
  owner: 'the database role of this service owns its tables',
};

/** Only for a database that the operator named: the embedded one has its roles made by us. */
export async function warnOfDatabaseRole({ app, config, log }: Opened): Promise<void> {
  if (config.databaseUrl === undefined) return;
  const excess = await excessPrivilege(app.database);
  if (!excess) return;
  log.warn(
    { role: await readRole(app.database) },
    `${ROLE_WARNINGS[excess]}; name a role that owns nothing in PORTICO_DATABASE_URL and the owner in PORTICO_MIGRATION_DATABASE_URL for portico migrate (docs/operating.md, Two database roles)`,
  );
}

/** Whoever comes back after weeks has to find the partitions that it writes to. */
export async function preparePartitions(app: App): Promise<void> {
  try {
    await app.partitions.prepare();
  } catch (error) {
    throw new StartupError(`The database has no partitions for these weeks (${(error as Error).message}).`);
  }
}
