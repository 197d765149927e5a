import { type ChildProcess, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { chmod, mkdtemp, readdir, readFile, readlink, realpath, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Environment, readConfig } from '../../server/infrastructure/config/config.ts';
import { runCommand } from '../../server/infrastructure/runtime/run-command.ts';
import { StartupError } from '../../server/infrastructure/runtime/startup-error.ts';
import { claim } from '../database/claim.ts';
import { PATIENCE_MS } from './patience.ts';
import { servicePorts } from './port-block.ts';

const PORTICO = join(import.meta.dirname, '..', '..', 'bin', 'portico.cjs');
/** A condition may be a request or a list of all processes: shorter intervals cost more than the service itself. */
const POLL_EVERY_MS = 50;
/** For tests that wait for a process to end. */
export const BOUNDED = { timeout: 2 * PATIENCE_MS };

/** A test, or `{ after }` of `node:test` for resources that the tests of a file share. */
export type Scope = { after(cleanUp: () => unknown): void };
const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
type User = { uid: number; gid: number };
export type Exit = { code: number | null; signal: NodeJS.Signals | null; out: string; err: string };
export type Running = ReturnType<typeof watch>;
export type Site = Awaited<ReturnType<typeof createSite>>;

/**
 * A folder to run the real command line in, with its own port and data folder and without settings of this process.
 * At the end of the scope all its processes are killed, and the folder is removed.
 */
export async function createSite(scope: Scope) {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'portico serve ')));
  // As root, PostgreSQL runs as another user, who needs access.
  await chmod(root, 0o711);
  const dataDir = join(root, 'data');
  const port = await findServicePort();
  const url = `http://127.0.0.1:${port}`;
  const operatorPort = await findServicePort();
  const operatorUrl = `http://127.0.0.1:${operatorPort}`;
  const children = new Set<ChildProcess>();
  scope.after(async () => {
    for (const child of children) child.kill('SIGKILL');
    for (const pid of await processesOn(root)) await runCommand('kill', ['-9', String(pid)]);
    await rm(root, { recursive: true, force: true, maxRetries: 10 });
  });

  /** By default on a local installation the main port serves the operator, and there is no second listener. */
  const portsOf = (settings: Environment) => ({
    PORTICO_PORT: String(port),
    ...(isLocal(settings) ? {} : { PORTICO_OPERATOR_PORT: String(operatorPort) }),
  });

  function launch(program: string, args: readonly string[], settings: Environment, user?: User): Running {
    const env = { PATH: process.env.PATH, HOME: root, ...portsOf(settings), ...settings };
    const child = spawn(program, args, { cwd: root, env, ...user });
    children.add(child);
    return watch(child);
  }
  const start = (args: readonly string[], settings: Environment = {}, user?: User) =>
    launch(process.execPath, [PORTICO, ...args], settings, user);

  return {
    ...{ root, dataDir, port, url, operatorUrl, start },
    /** Runs in a pseudo-terminal; `type` sends input. */
    startAtTerminal(args: readonly string[]): Running {
      const words = [process.execPath, PORTICO, ...args].map((word) => `'${word}'`);
      return launch('script', ['-qec', `exec ${words.join(' ')}`, '/dev/null'], { TERM: 'xterm' });
    },
    run: (...command: Parameters<typeof start>) => start(...command).exited,
    /** Why a command does not start. In this process, because loading one costs most of its start. */
    refusal: (command: Command, settings: Environment) =>
      refusalOf(command, {
        ...{ ...portsOf(settings), PORTICO_DATA_DIR: dataDir, PORTICO_LOG_LEVEL: 'silent' },
        ...settings,
      }),
    /** Starts a command and waits until it serves and has finished starting. */
    async serve(settings: Environment = {}, command = 'serve'): Promise<Running> {
      const running = start([command], settings);
      await untilReady(url, running);
      // With an embedded database it creates the demo after its port is open, and then prints the welcome.
      if (command === 'serve' && settings.PORTICO_DATABASE_URL === undefined)
        await waitFor('the welcome', running, () => running.out().includes('Stop with Ctrl-C.'));
      return running;
    },
    /** A call to the operator API with the token in the data folder. */
    async operate(method: 'GET' | 'POST', path: string, payload?: object) {
      const token = (await readFile(join(dataDir, 'operator.token'), 'utf8')).trim();
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      const init = { method, headers, ...(payload ? { body: JSON.stringify(payload) } : {}) };
      const response = await fetch(`${url}/operator${path}`, init);
      return { status: response.status, body: (await response.json()) as Record<string, unknown> };
    },
    databaseProcesses: () => processesOn(dataDir),
  };
}

type Command = 'serve' | 'api' | 'dispatch' | 'migrate';

async function refusalOf(command: Command, environment: Environment): Promise<string> {
  const [{ serve }, { api, dispatch }, { migrate }] = await Promise.all([
    import('../../server/commands/serve.ts'),
    import('../../server/commands/api.ts'),
    import('../../server/commands/migrate.ts'),
  ]);
  const listeners = STOP_SIGNALS.map((signal) => new Set(process.listeners(signal)));
  try {
    await { serve, api, dispatch, migrate }[command](readConfig(environment));
  } catch (error) {
    if (error instanceof StartupError) return error.message;
    throw error;
  } finally {
    // Those of the command: its process would have ended.
    for (const [index, signal] of STOP_SIGNALS.entries())
      for (const listener of process.listeners(signal))
        if (!listeners[index]?.has(listener)) process.off(signal, listener);
  }
  throw new Error(`${command} has started and stopped`);
}

function isLocal(settings: Environment): boolean {
  const moved = ['PORTICO_DATABASE_URL', 'PORTICO_HOST', 'PORTICO_BASE_URL', 'PORTICO_OPERATOR_HOST'];
  return !moved.some((name) => settings[name] !== undefined);
}

/** Each port is given once in a run: the service that gets it may start much later. */
export async function findServicePort(): Promise<number> {
  const port = randomInt(...servicePorts());
  if (!claim(join(tmpdir(), `portico-port-${port}`))) return await findServicePort();
  const server = createServer().listen(port, '127.0.0.1');
  if (!(await once(server, 'listening').catch(() => undefined))) return await findServicePort();
  await once(server.close(), 'close');
  return port;
}

export async function untilReady(url: string, running: Running): Promise<void> {
  const isReady = async () => (await fetch(`${url}/readyz`).catch(() => undefined))?.status === 200;
  await waitFor(`${url}/readyz`, running, isReady);
}

/** Polls until the condition holds; fails early, with the output, when the process has ended. */
export async function waitFor(
  what: string,
  running: Running,
  condition: () => boolean | Promise<boolean>,
  patienceMs = PATIENCE_MS,
): Promise<void> {
  let ended: Exit | undefined;
  void running.exited.then((exit) => {
    ended = exit;
  });
  for (const giveUpAt = performance.now() + patienceMs; !(await condition()); await delay(POLL_EVERY_MS)) {
    if (!ended && performance.now() < giveUpAt) continue;
    const why = ended ? `it ended with ${ended.code ?? ended.signal}` : `not within ${patienceMs} ms`;
    throw new Error(`${what}: ${why}\n${running.out()}${running.err()}`);
  }
}

export function watch(child: ChildProcess) {
  const [out, err] = [child.stdout, child.stderr].map((stream) => {
    const chunks: string[] = [];
    stream?.setEncoding('utf8').on('data', (text: string) => chunks.push(text));
    return () => chunks.join('');
  }) as [() => string, () => string];
  return {
    pid: child.pid,
    /** Its output so far. */
    out,
    err,
    kill: (signal: NodeJS.Signals) => void child.kill(signal),
    type: (keys: string) => void child.stdin?.write(keys),
    /** Resolved when it has ended and its output is closed. */
    exited: once(child, 'close').then(([code, signal]): Exit => ({ code, signal, out: out(), err: err() })),
  };
}

/** Every process that runs in a directory, found by its arguments or working directory. */
export async function processesOn(directory: string): Promise<number[]> {
  return (await allProcesses())
    .filter(({ command, cwd }) => command.includes(directory) || `${cwd}/`.startsWith(`${directory}/`))
    .map(({ pid }) => pid);
}

async function allProcesses(): Promise<{ pid: number; command: string; cwd: string }[]> {
  if (process.platform !== 'linux') {
    const { stdout } = await runCommand('ps', ['-axww', '-o', 'pid=,command=']);
    return stdout.split('\n').map((command) => ({ pid: Number.parseInt(command, 10), command, cwd: '' }));
  }
  const pids = (await readdir('/proc')).map(Number).filter((pid) => pid > 0);
  return await Promise.all(
    pids.map(async (pid) => ({
      pid,
      command: await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => ''),
      cwd: await readlink(`/proc/${pid}/cwd`).catch(() => ''),
    })),
  );
}
