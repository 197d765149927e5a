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
import { schemaState } from '../infrastructure/database/migrate.ts';
import { systemClock, systemTimers } from '../infrastructure/runtime/clock.ts';
import { createLog, type Log } from '../infrastructure/runtime/log.ts';
import { Secret } from '../infrastructure/runtime/secret.ts';
import { StartupError } from '../infrastructure/runtime/startup-error.ts';
import { createSenderThread } from '../webhooks/deliveries/sending/sender-thread.ts';

/** The resources of a command, closed in reverse order. */
export type Opened = {
  app: App;
  config: CompleteConfig;
  log: Log;
  embedded: boolean;
  /** The URL with the role that owns the tables. */
  ownerUrl: Secret;
};

/**
 * Opens the database (embedded unless a URL is configured) and creates the application. Each resource is
 * registered with `resources` as soon as it is open, so that a failed start leaves nothing behind.
 */
export async function openApp(
  config: Config,
  resources: AsyncDisposableStack,
  { withRoutes = false, stop }: { withRoutes?: boolean; stop?: AbortSignal } = {},
): Promise<Opened> {
  const embedded = config.databaseUrl === undefined;
  const terminal = process.stdout.isTTY === true;
  const log = createLog({ level: config.logLevel, terminal });
  if (embedded) {
    const lock = await lockDataDir(config.dataDir);
    resources.defer(() => lock.release());
  }
  const complete = await completeSecrets(config, randomBytes);
  // After the checks above: a build takes seconds.
  const dashboard = withRoutes ? await openDashboard(stop) : undefined;
  const { databaseUrl, ownerUrl } =
    config.databaseUrl === undefined
      ? await openEmbedded(config.dataDir, resources, stop)
      : {
          databaseUrl: config.databaseUrl,
          ownerUrl: config.migrationDatabaseUrl ?? config.databaseUrl,
        };
  const time = { clock: systemClock, timers: systemTimers };
  const sender = createSenderThread({ ...time, log });
  const app = await createApp({
    ...{ config: complete, databaseUrl, log, randomBytes, dashboard, sender, withRoutes },
    operatorOnMainPort: embedded && config.exposure === undefined,
    ...{ ...time, databaseTimers: systemTimers, processMetrics: true },
  });
  resources.defer(() => app.close());
  await requireReachable(app, databaseUrl);
  return { app, config: complete, log, embedded, ownerUrl };
}

/** Progress goes to stderr, like that of the database setup. */
async function openDashboard(stop?: AbortSignal): Promise<DashboardFiles | undefined> {
  const folder = await ensureDashboardBuild((text) => process.stderr.write(text), stop);
  return folder === undefined ? undefined : await readDashboardFiles(folder);
}

async function openEmbedded(dataDir: string, resources: AsyncDisposableStack, stop?: AbortSignal) {
  const postgres = await startEmbeddedPostgres({ dataDir, signal: stop });
  let stopping = false;
  resources.defer(() => {
    stopping = true;
    return postgres.stop();
  });
  // The service cannot run without its database; a supervisor restarts both.
  void postgres.ended.then(() => {
    if (stopping) return;
    process.stderr.write(
      `portico: The embedded PostgreSQL has stopped; see ${join(dataDir, 'postgres.log')}.\n`,
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
    const { code, message, path } = error as NodeJS.ErrnoException;
    // Errors of PostgreSQL and of files, such as sslrootcert, have a useful message; network errors only a useful code.
    const isTelling = error instanceof pg.DatabaseError || path !== undefined;
    const reason = isTelling ? message : (code ?? message);
    throw new StartupError(
      `The database ${pathname.slice(1)} at ${host || 'localhost'} cannot be used (${reason}).`,
    );
  }
}

/** A service that starts after weeks needs partitions for today. */
export async function preparePartitions(app: App): Promise<void> {
  try {
    await app.partitions.prepare();
  } catch (error) {
    throw new StartupError(`The partitions for new rows could not be created (${(error as Error).message}).`);
  }
}
