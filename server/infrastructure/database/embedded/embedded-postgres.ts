import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { StartupError } from '../../runtime/startup-error.ts';
import { type Binaries, findBinaries } from './cluster/binaries.ts';
import { clusterExists, prepareCluster } from './cluster/cluster.ts';
import { readOrCreatePassword, readOrCreateRolePassword } from './cluster/cluster-password.ts';
import { OWNER, type RolePasswords, SERVICE } from './cluster/roles.ts';
import { serverArguments } from './cluster/server-settings.ts';
import { ensureDataDir } from './data-dir/data-dir.ts';
import { fileProblem } from './data-dir/file-problem.ts';
import { createLauncher, type Launcher } from './server/launcher.ts';
import { clearLeftoverServer } from './server/leftover-server.ts';
import { type Address, databaseUrl, waitUntilReady } from './server/readiness.ts';
import { lastComplaint, openServerLog, type ServerLog } from './server/server-log.ts';
import { type ServerProcess, spawnServer, stopPostmaster } from './server/server-process.ts';
import { chooseServerUser } from './server/server-user.ts';

export type EmbeddedPostgres = {
  /** Connects as the service role, which owns nothing. */
  readonly url: string;
  /** Connects as the owner of the tables, for migrations. */
  readonly ownerUrl: string;
  /** Resolved when the server has ended, for any reason. */
  readonly ended: Promise<void>;
  stop(): Promise<void>;
};
type Settings = Readonly<Record<string, string>>;
type Start = {
  readonly binaries: Binaries;
  readonly launcher: Launcher;
  readonly clusterDir: string;
  readonly password: string;
  readonly rolePasswords: RolePasswords;
  readonly settings: Settings;
  readonly log: ServerLog;
  readonly choosePort: () => Promise<number>;
  readonly signal: AbortSignal | undefined;
};

/** Another process may take the port between its selection and PostgreSQL's use of it. */
const PORT_ATTEMPTS = 5;
/** Processes of a killed server end by themselves, but hold its shared memory until then. */
const WAIT_FOR_LEFTOVERS_MS = 30_000;
const RETRY_AFTER_MS = 250;

/**
 * Runs PostgreSQL as a child process, with its data in `<dataDir>/postgres`. `signal` aborts the start: the creation
 * of the database, or its recovery after a crash, may take longer than a process has for its shutdown.
 */
export async function startEmbeddedPostgres(options: {
  dataDir: string;
  settings?: Settings;
  choosePort?: () => Promise<number>;
  signal?: AbortSignal | undefined;
}): Promise<EmbeddedPostgres> {
  const { settings = {}, choosePort = findFreePort, signal } = options;
  const dataDir = await ensureDataDir(options.dataDir);
  const clusterDir = join(dataDir, 'postgres');
  // First, because only its owner can read the cluster.
  const user = await chooseServerUser(clusterDir);
  const found = await clusterExists(clusterDir).catch((error: unknown) => {
    throw fileProblem('read the database in', clusterDir, error);
  });
  const binaries = await findBinaries();
  const launcher = await createLauncher({ binaries, dataDir, user });
  const password = await readOrCreatePassword(dataDir, found);
  const rolePasswords = {
    owner: await readOrCreateRolePassword(dataDir, 'owner'),
    service: await readOrCreateRolePassword(dataDir, 'service'),
  };
  await clearLeftoverServer(clusterDir, binaries.pgCtl);
  const syncToDisk = settings.fsync !== 'off';
  await prepareCluster({ dataDir, clusterDir, binaries, launcher, user, password, syncToDisk, signal });

  const log = await openServerLog(join(dataDir, 'postgres.log'));
  try {
    return await startServer({
      ...{ binaries, launcher, clusterDir, password, rolePasswords, settings, log, choosePort, signal },
    });
  } catch (error) {
    await log.close();
    throw error;
  }
}

async function startServer(start: Start): Promise<EmbeddedPostgres> {
  const giveUpOnLeftoversAt = Date.now() + WAIT_FOR_LEFTOVERS_MS;
  for (let portAttempt = 1; ; ) {
    const port = await start.choosePort();
    const args = serverArguments({ clusterDir: start.clusterDir, port, settings: start.settings });
    await start.log.mark();
    start.signal?.throwIfAborted();
    const server = spawnServer(start.launcher(start.binaries.postgres, args), start.log.fd);
    const address = { port, password: start.password, rolePasswords: start.rolePasswords };
    const outcome = await waitOrStop(server, address, start);
    if (outcome === 'ready') return running(server, address, start);

    const written = await start.log.written();
    if (outcome === 'died' && isPortTaken(written) && portAttempt < PORT_ATTEMPTS) portAttempt += 1;
    else if (outcome === 'died' && isMemoryHeld(written) && Date.now() < giveUpOnLeftoversAt)
      await delay(RETRY_AFTER_MS);
    else throw didNotStart(start.clusterDir, server.startError()?.message ?? lastComplaint(written));
  }
}

async function waitOrStop(
  server: ServerProcess,
  address: Address,
  { binaries, signal }: Start,
): Promise<'ready' | 'died' | 'late'> {
  const stop = () => stopPostmaster(server, binaries.pgCtl);
  // The wait ends with the server.
  const abort = () => void stop().catch(() => undefined);
  signal?.addEventListener('abort', abort);
  try {
    const outcome = await waitUntilReady(server, address);
    signal?.throwIfAborted();
    if (outcome === 'late') await stop();
    return outcome;
  } catch (error) {
    await stop();
    throw error;
  } finally {
    signal?.removeEventListener('abort', abort);
  }
}

function running(server: ServerProcess, address: Address, { binaries, log }: Start): EmbeddedPostgres {
  let stopping: Promise<void> | undefined;
  const { port, rolePasswords } = address;
  return {
    url: databaseUrl({ port, role: SERVICE, password: rolePasswords.service }),
    ownerUrl: databaseUrl({ port, role: OWNER, password: rolePasswords.owner }),
    ended: server.gone,
    stop() {
      stopping ??= stopPostmaster(server, binaries.pgCtl).finally(() => log.close());
      return stopping;
    },
  };
}

function isPortTaken(log: string): boolean {
  return /could not bind|could not create any TCP\/IP sockets/.test(log);
}

function isMemoryHeld(log: string): boolean {
  return log.includes('pre-existing shared memory block');
}

function didNotStart(clusterDir: string, reason = 'no reason given'): StartupError {
  return new StartupError(
    `The embedded PostgreSQL on ${clusterDir} did not start (${reason}); the full log is in postgres.log next to it.`,
  );
}

/** Free at this moment; another process may take it before it is used. */
export async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
