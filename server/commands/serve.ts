import { randomBytes } from 'node:crypto';
import type { Config } from '../infrastructure/config/config.ts';
import { closeDemoIfExposed } from './closed-demo.ts';
import { createDemo, findDemoFounder } from './demo.ts';
import { listen, runUntilStopped } from './process.ts';
import { openReadyApp } from './ready.ts';
import { writeWelcome } from './welcome.ts';

/** Runs everything in one process: HTTP, background work, and the embedded database unless a URL is configured. */
export async function serve(config: Config): Promise<void> {
  await runUntilStopped(config, async (resources, stop) => {
    const opened = await openReadyApp(config, resources, stop, { withRoutes: true });
    const { app, config: complete, log, embedded } = opened;
    await closeDemoIfExposed(app, config, log);
    await app.dispatcher.start();
    app.fileProcessing.start();
    await app.simulator.start();
    await listen(app, complete, resources);
    app.alertsModule.notifier.start({ withSlack: true });
    app.nodeTasks.start();
    app.clusterTasks.start();
    stop.throwIfAborted();

    // Last, because its secrets are shown once: a start that fails later would lose them.
    const withInbox = complete.webhookAllowPrivate;
    const demo = complete.demo ? await createDemo(app, { randomBytes, withInbox }) : undefined;
    if (embedded || demo || process.stdout.isTTY) {
      const founder = complete.demo && !demo ? await findDemoFounder(app) : undefined;
      writeWelcome(process.stdout, complete, { demo, founder });
    } else log.info({ base_url: complete.baseUrl, host: complete.host, port: complete.port }, 'serving');
  });
}
