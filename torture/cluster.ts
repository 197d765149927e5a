import { type ChildProcess, execFile, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Secret } from '../server/infrastructure/runtime/secret.ts';
import { findServicePort } from '../testing/app/serve.ts';
import { createSilentProxy } from '../testing/database/silent-proxy.ts';
import type { Addresses } from './calls.ts';
import type { Guard } from './guarding.ts';
import { API_NODES, NODES, type NodeName } from './plan.ts';
import { type End, type PorticoProcess, superviseProcess } from './portico-process.ts';
import { type Postgres, startPostgres } from './postgres.ts';
import type { Arrival, Endpoint } from './receivers.ts';
import { OPERATOR_TOKEN } from './tenants.ts';

const READY_WITHIN_MS = 60_000;
const POLL_EVERY_MS = 50;
const MIGRATE_WITHIN_MS = 120_000;
const PORTICO = join(import.meta.dirname, '..', 'bin', 'portico.cjs');

export type DatabaseProxy = Awaited<ReturnType<typeof createSilentProxy>>;
export type Cluster = Awaited<ReturnType<typeof startCluster>>;

type Options = {
  folder: string;
  /** Of PostgreSQL. */
  dataDir: string;
  resources: AsyncDisposableStack;
  guard: Guard;
  /** Settings of the processes, but not of the migration. */
  environment: Record<string, string>;
  signal: AbortSignal;
  onEnd(end: End): void;
  onError(node: NodeName, message: string): void;
};

/**
 * PostgreSQL, a proxy in front of it for each process, the receivers, and a function that starts the processes.
 * Everything is ended with `resources`, by its process id.
 */
export async function startCluster(options: Options) {
  const { folder, dataDir, resources, guard, environment, signal, onEnd, onError } = options;
  const postgres = await startPostgres(dataDir);
  resources.defer(() => postgres.stop());
  const receivers = await startReceivers(join(folder, 'receivers.log'), resources);
  const common = await commonSettings(postgres.url);
  await migrate(common, postgres, folder);

  const proxies = new Map<NodeName, DatabaseProxy>();
  const processes = new Map<NodeName, PorticoProcess>();
  const addresses = new Map<NodeName, Addresses>();
  for (const name of NODES) {
    const proxy = await createSilentProxy(postgres.url);
    resources.defer(() => proxy.close());
    proxies.set(name, proxy);
  }

  async function start(name: NodeName): Promise<void> {
    const [port, operatorPort] = [await findServicePort(), await findServicePort()];
    const address = `http://127.0.0.1:${port}`;
    const ports = name.startsWith('api')
      ? { PORTICO_PORT: String(port), PORTICO_OPERATOR_PORT: String(operatorPort) }
      : { PORTICO_METRICS_PORT: String(port) };
    addresses.set(name, { url: address, operatorUrl: `http://127.0.0.1:${operatorPort}` });
    const url = (proxies.get(name) as DatabaseProxy).url.reveal();
    const settings = {
      ...{ ...common, ...ports, ...environment },
      ...{ PORTICO_DATABASE_URL: url, PORTICO_DATA_DIR: join(folder, name) },
    };
    const supervised = superviseProcess({ name, settings, folder, guard, onEnd, onError });
    resources.defer(() => supervised.kill());
    processes.set(name, supervised);
    await untilReady(name);
  }

  async function untilReady(name: NodeName): Promise<void> {
    for (const giveUpAt = Date.now() + READY_WITHIN_MS; Date.now() < giveUpAt; await delay(POLL_EVERY_MS)) {
      signal.throwIfAborted();
      const answer = await fetch(`${addresses.get(name)?.url}/readyz`).catch(() => undefined);
      if (answer?.status === 200) return;
    }
    throw new Error(`${name} is not ready after ${READY_WITHIN_MS / 1_000} s; see ${name}.log`);
  }

  return {
    ...{ postgres, proxies, processes, receivers, untilReady },
    startApi: () => Promise.all(API_NODES.map(start)),
    startDispatchers: () => Promise.all(NODES.filter((name) => !processes.has(name)).map(start)),
    addresses: () => API_NODES.map((name) => addresses.get(name)) as [Addresses, Addresses],
  };
}

/** The API processes are two nodes of one service, so they share its address. */
async function commonSettings(databaseUrl: Secret): Promise<Record<string, string>> {
  return {
    PORTICO_DATABASE_URL: databaseUrl.reveal(),
    PORTICO_DATABASE_CONNECTIONS: '10',
    PORTICO_MASTER_KEY: 'c3'.repeat(32),
    PORTICO_OPERATOR_TOKEN: OPERATOR_TOKEN,
    PORTICO_BASE_URL: `http://localhost:${await findServicePort()}`,
    PORTICO_WEBHOOK_ALLOW_PRIVATE: 'true',
    PORTICO_RETRY_MAX_DELAY: '5s',
  };
}

async function migrate(settings: Record<string, string>, { ownerUrl }: Postgres, folder: string) {
  mkdirSync(join(folder, 'migrate'));
  await promisify(execFile)(process.execPath, [PORTICO, 'migrate'], {
    cwd: join(folder, 'migrate'),
    env: { PATH: process.env.PATH, ...settings, PORTICO_MIGRATION_DATABASE_URL: ownerUrl.reveal() },
    timeout: MIGRATE_WITHIN_MS,
  });
}

async function startReceivers(logFile: string, resources: AsyncDisposableStack) {
  const child: ChildProcess = fork(join(import.meta.dirname, 'receivers.ts'), [logFile]);
  resources.defer(async () => {
    const gone = child.exitCode === null && child.signalCode === null ? once(child, 'exit') : undefined;
    if (child.connected) child.disconnect();
    await gone;
  });
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  let arrivals = 0;
  child.on('message', (message: { arrivals: number }) => {
    arrivals = message.arrivals;
  });
  return {
    url: `http://127.0.0.1:${port}`,
    arrivals: () => arrivals,
    expect: (endpoints: readonly Endpoint[]) => void child.send(endpoints),
    async readLog(): Promise<Arrival[]> {
      const lines = (await readFile(logFile, 'utf8')).trimEnd().split('\n');
      return lines.filter(Boolean).map((line) => JSON.parse(line) as Arrival);
    },
  };
}
