import type { Config } from '../infrastructure/config/config.ts';
import { StartupError } from '../infrastructure/runtime/startup-error.ts';
import { closeDemoIfExposed } from './closed-demo.ts';
import { logExposure } from './exposure.ts';
import { listen, listenOn, runUntilStopped } from './process.ts';
import { openApp, requireMasterKey, requireReadyDatabase, warnOfDatabaseRole } from './resources.ts';

/** Serves HTTP only. Any number of these processes share one database. */
export async function api(config: Config): Promise<void> {
  requireSharedDatabase(config, 'api');
  await runUntilStopped(config, async (resources, stop) => {
    const opened = await openApp(config, resources, { withRoutes: true });
    const { app, config: complete, log } = opened;
    logExposure(config, log);
    await requireReadyDatabase(app);
    await warnOfDatabaseRole(opened);
    stop.throwIfAborted();
    await requireMasterKey(app);
    await closeDemoIfExposed(app, config, log);
    await listen(app, complete, resources);
    app.alertsModule.notifier.start({ withSlack: false });
    app.nodeTasks.start();
    log.info({ base_url: complete.baseUrl, host: complete.host, port: complete.port }, 'serving');
  });
}

/** Runs the background work only. Any number of these processes share one database. Opens a port only for metrics. */
export async function dispatch(config: Config): Promise<void> {
  requireSharedDatabase(config, 'dispatch');
  await runUntilStopped(config, async (resources, stop) => {
    const opened = await openApp(config, resources);
    const { app, config: complete, log } = opened;
    logExposure(config, log);
    await requireReadyDatabase(app);
    await warnOfDatabaseRole(opened);
    stop.throwIfAborted();
    await requireMasterKey(app);
    // For the Organizations that are frozen.
    await app.revocations.start();
    await app.dispatcher.start();
    app.fileProcessing.start();
    await app.simulator.start();
    if (complete.metricsPort !== undefined) {
      const server = app.createHealthServer();
      resources.defer(() => server.close());
      const { operatorHost: host, metricsPort: port } = complete;
      await listenOn(server, { host, port }, 'PORTICO_METRICS_PORT');
    }
    app.alertsModule.notifier.start({ withSlack: true });
    app.nodeTasks.start();
    app.clusterTasks.start();
    log.info('dispatching');
  });
}

function requireSharedDatabase(config: Config, command: string): void {
  if (config.databaseUrl === undefined)
    throw new StartupError(
      `The command ${command} works on a shared database: set PORTICO_DATABASE_URL, or run portico serve instead.`,
    );
}
