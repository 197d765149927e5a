import { once } from 'node:events';
import type { App } from '../app.ts';
import type { Config } from '../infrastructure/config/config.ts';
import type { CompleteConfig } from '../infrastructure/config/generated-secrets.ts';
import { StartupError } from '../infrastructure/runtime/startup-error.ts';

/**
 * For requests in flight, because a client may stall. Half of the time that `docker stop` allows for the whole
 * shutdown.
 */
const FINISH_REQUESTS_WITHIN_MS = 5_000;
/** For the embedded PostgreSQL, after the limit of the application. After both limits the process exits. */
const DATABASE_STOP_MS = 8_000;

/** The address setting of each port setting. */
const HOST_SETTINGS = {
  PORTICO_PORT: 'PORTICO_HOST',
  PORTICO_OPERATOR_PORT: 'PORTICO_OPERATOR_HOST',
  PORTICO_METRICS_PORT: 'PORTICO_OPERATOR_HOST',
} as const;

type Start = (resources: AsyncDisposableStack, stop: AbortSignal) => Promise<void>;

/**
 * Starts, runs until a stop signal, and closes all resources in reverse order. A signal during the start aborts
 * it at the next `stop.throwIfAborted()`.
 */
export async function runUntilStopped({ shutdownLimitMs }: Config, start: Start): Promise<void> {
  const stop = stopSignal(shutdownLimitMs + DATABASE_STOP_MS);
  await runAndClose(start, stop);
  // A timer or socket that a failed step left open must not keep the process alive. The exit code is 0 unless one
  // was set.
  if (stop.aborted) process.exit();
}

async function runAndClose(start: Start, stop: AbortSignal): Promise<void> {
  await using resources = new AsyncDisposableStack();
  try {
    await start(resources, stop);
    if (!stop.aborted) await once(stop, 'abort');
  } catch (error) {
    // Ctrl-C also reaches the programs that create the database, so their failure is expected then.
    if (!stop.aborted || !(error === stop.reason || error instanceof StartupError)) throw error;
  }
}

/** npm and the terminal may both send the signal; only the first one counts. */
function stopSignal(limitMs: number): AbortSignal {
  const stop = new AbortController();
  const request = () => {
    if (stop.signal.aborted) return;
    stop.abort();
    setTimeout(() => process.exit(1), limitMs).unref();
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, request);
  return stop.signal;
}

export async function listen(
  app: App,
  config: CompleteConfig,
  resources: AsyncDisposableStack,
): Promise<void> {
  const { host, port } = config;
  await app.revocations.start();
  await listenForOperator(app, config, resources);
  await listenOn(app.server, { host, port }, 'PORTICO_PORT');
  limitClosing(app.server, resources);
}

/** Before the main port, so that a service that reports itself ready also answers its operator. */
async function listenForOperator(
  app: App,
  { operatorHost: host, operatorPort: port }: CompleteConfig,
  resources: AsyncDisposableStack,
): Promise<void> {
  if (port === undefined) return;
  const operatorServer = await app.createOperatorServer();
  // Together with the main server, which would otherwise accept requests until this server has closed.
  resources.defer(async () => {
    await Promise.all([operatorServer.close(), app.server.close()]);
  });
  await listenOn(operatorServer, { host, port }, 'PORTICO_OPERATOR_PORT');
  limitClosing(operatorServer, resources);
}

function limitClosing({ server }: App['server'], resources: AsyncDisposableStack): void {
  resources.defer(() => {
    setTimeout(() => server.closeAllConnections(), FINISH_REQUESTS_WITHIN_MS).unref();
  });
}

/** `setting` is the port setting, for the error message. */
export async function listenOn(
  server: App['server'],
  { host, port }: { host: string; port: number },
  setting: keyof typeof HOST_SETTINGS,
): Promise<void> {
  const { log } = server;
  const { level } = log;
  // Fastify logs each address by itself; the welcome screen or our own log line has it once.
  log.level = 'silent';
  try {
    await server.listen({ host, port });
  } catch (error) {
    throw new StartupError(describe(error as NodeJS.ErrnoException, { host, port, setting }));
  } finally {
    log.level = level;
  }
}

function describe(
  { code, message }: NodeJS.ErrnoException,
  { host, port, setting }: { host: string; port: number; setting: keyof typeof HOST_SETTINGS },
): string {
  switch (code) {
    case 'EADDRINUSE':
      return `Port ${port} is in use; stop the other process or set ${setting}.`;
    case 'EACCES':
      return `This user may not use port ${port}; set ${setting}.`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return `The address ${host} does not belong to this machine; set ${HOST_SETTINGS[setting]}.`;
    default:
      return `Cannot listen on ${host}:${port} (${message}).`;
  }
}
