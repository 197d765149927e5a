import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import type { Guard } from './guarding.ts';
import type { NodeName } from './plan.ts';

const PORTICO = join(import.meta.dirname, '..', 'bin', 'portico.cjs');
/** Shutdown limit of the service (20 s), and some more for a busy machine. */
const STOP_WITHIN_MS = 40_000;
/** As a service manager restarts a process that has ended. */
const RESTART_AFTER_MS = 1_000;
const ERROR_LEVEL = 50;
const STARTED = new Set(['serving', 'dispatching']);

/** How a process ended: by a fault, or by itself. `wasServing`: it had finished its start. */
export type End = {
  at: number;
  node: NodeName;
  cause: 'kill' | 'terminate' | 'itself' | 'deadline';
  code: number | null;
  signal: NodeJS.Signals | null;
  wasServing: boolean;
};
export type PorticoProcess = ReturnType<typeof superviseProcess>;

type Options = {
  name: NodeName;
  settings: Record<string, string>;
  folder: string;
  guard: Guard;
  onEnd(end: End): void;
  onError(node: NodeName, message: string): void;
};

/** One `portico api` or `portico dispatch`, restarted whenever it ends. Its log is in the folder. */
export function superviseProcess({ name, settings, folder, guard, onEnd, onError }: Options) {
  const command = name.startsWith('api') ? 'api' : 'dispatch';
  const log = openSync(join(folder, `${name}.log`), 'a');
  let child: ChildProcess | undefined;
  let isServing = false;
  let isStopping = false;
  let cause: End['cause'] = 'itself';
  let awayMs = 0;

  function launch(): ChildProcess {
    isServing = false;
    cause = 'itself';
    const started = spawn(process.execPath, [PORTICO, command], {
      cwd: folder,
      env: { PATH: process.env.PATH, HOME: folder, ...settings },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    guard.started(started.pid);
    for (const stream of [started.stdout, started.stderr])
      createInterface({ input: stream }).on('line', (line) => readLine(line));
    return started;
  }

  function readLine(line: string): void {
    writeSync(log, `${line}\n`);
    const { level, msg } = parse(line);
    if (msg !== undefined && STARTED.has(msg)) isServing = true;
    if (level !== undefined && level >= ERROR_LEVEL) onError(name, msg ?? 'no message');
  }

  async function run(): Promise<void> {
    while (!isStopping) {
      child = launch();
      const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
      guard.ended(child.pid);
      onEnd({ at: Date.now(), node: name, cause, code, signal, wasServing: isServing });
      isServing = false;
      if (!isStopping) await delay(cause === 'itself' ? RESTART_AFTER_MS : awayMs);
    }
    closeSync(log);
  }

  const running = run();
  const isUp = () => child !== undefined && child.exitCode === null && child.signalCode === null;

  async function terminate(): Promise<void> {
    const ending = child;
    if (!ending || !isUp()) return;
    cause = 'terminate';
    ending.kill('SIGTERM');
    const deadline = setTimeout(() => {
      cause = 'deadline';
      ending.kill('SIGKILL');
    }, STOP_WITHIN_MS);
    await once(ending, 'close');
    clearTimeout(deadline);
  }

  return {
    name,
    isServing: () => isServing,
    isUp,
    /** Resolves when it has ended; it is started again after `ms`. */
    async fault(kind: 'kill' | 'terminate', ms: number): Promise<void> {
      awayMs = ms;
      if (kind === 'terminate') return await terminate();
      cause = 'kill';
      child?.kill('SIGKILL');
      if (isUp()) await once(child as ChildProcess, 'close');
    },
    async stop(): Promise<void> {
      isStopping = true;
      await terminate();
      await running;
    },
    /** For an aborted run. */
    async kill(): Promise<void> {
      isStopping = true;
      child?.kill('SIGKILL');
      await running;
    },
  };
}

function parse(line: string): { level?: number; msg?: string } {
  if (!line.startsWith('{')) return {};
  try {
    return JSON.parse(line) as { level?: number; msg?: string };
  } catch {
    return {};
  }
}
