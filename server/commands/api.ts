import type { Config } from '../infrastructure/config/config.ts';
import { StartupError } from '../infrastructure/runtime/startup-error.ts';
import { closeDemoIfExposed } from './closed-demo.ts';
import { listen, listenOn, runUntilStopped } from './process.ts';
import { openReadyApp } from './ready.ts';

/** Serves HTTP only. Any number of these processes share one database. */
export async function api(config: Config): Promise<void> {
  requireSharedDatabase(config, 'api');
  await runUntilStopped(config, async (resources, stop) => {
    const options = { withRoutes: true };
    const { app, config: complete, log } = await openReadyApp(config, resources, stop, options);
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
    const { app, config: complete, log } = await openReadyApp(config, resources, stop);
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
