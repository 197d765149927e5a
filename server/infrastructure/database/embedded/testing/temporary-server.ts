import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, type TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { PATIENCE_MS } from '../../../../../testing/app/patience.ts';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../embedded-postgres.ts';

export const isRoot = process.getuid?.() === 0;
export const UNPRIVILEGED = { uid: 65_534, gid: 65_534 };
export const FAST = { fsync: 'off' };
const HELPER = fileURLToPath(import.meta.resolve('./helper.ts'));

/** One cluster for tests that run one after another: a start on it costs a third of the creation of another. */
export function sharedDirectory(): Promise<string> {
  return temporaryDirectory({ after });
}

/** A directory that is removed after the test, with every server that was started on it. */
export async function temporaryDirectory(t: { after: typeof after }): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'portico embedded '));
  await chmod(directory, 0o711);
  t.after(() => rm(directory, { recursive: true, force: true, maxRetries: 5 }));
  return directory;
}

export async function start(
  t: TestContext,
  dataDir: string,
  more: Partial<Parameters<typeof startEmbeddedPostgres>[0]> = {},
): Promise<EmbeddedPostgres> {
  const server = await startEmbeddedPostgres({ dataDir, settings: FAST, ...more });
  t.after(() => server.stop());
  return server;
}

export async function query(url: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    const { rows } = await client.query(sql);
    return rows.flatMap((row) => Object.values(row));
  } finally {
    await client.end();
  }
}

export async function postmasterPid(dataDir: string): Promise<number> {
  return Number.parseInt(await readFile(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8'), 10);
}

/** Polls until `condition` holds. */
export async function eventually(condition: () => boolean | Promise<boolean>): Promise<void> {
  const giveUpAt = Date.now() + PATIENCE_MS;
  while (!(await condition())) {
    if (Date.now() > giveUpAt) throw new Error(`condition not met after ${PATIENCE_MS} ms: ${condition}`);
    await delay(10);
  }
}

export type Helper = {
  readonly pid: number;
  /** The next line of its output. */
  line(): Promise<string>;
  kill(signal: NodeJS.Signals): Promise<void>;
};

/** Runs `testing/helper.ts` as a child process. */
export function spawnHelper(
  t: TestContext,
  args: readonly string[],
  options: { uid?: number; gid?: number; env?: NodeJS.ProcessEnv; script?: string } = {},
): Helper {
  const { script = HELPER, ...spawnOptions } = options;
  const child = spawn(process.execPath, [script, ...args], {
    ...spawnOptions,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines = child.stdout.setEncoding('utf8').iterator({ destroyOnReturn: false });
  const exited = once(child, 'exit');
  const kill = async (signal: NodeJS.Signals) => {
    if (child.exitCode === null && child.signalCode === null) child.kill(signal);
    await exited;
  };
  t.after(() => kill('SIGKILL'));
  return { pid: child.pid ?? 0, line: async () => String((await lines.next()).value).trim(), kill };
}

/** The reason to skip a test that runs as another user: it needs root and an accessible checkout. */
export function cannotSwitchUser(): string | false {
  if (!isRoot) return 'only root can run as another user';
  const script = `require('node:fs').readFileSync(${JSON.stringify(HELPER)})`;
  const { status } = spawnSync(process.execPath, ['-e', script], { ...UNPRIVILEGED, stdio: 'ignore' });
  return status === 0 ? false : 'this checkout is not accessible to other users';
}
