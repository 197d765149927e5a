import { type ChildProcess, fork } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { SeedReport } from './seed.ts';
import type { Servers } from './servers.ts';

export type Task = { seed: number; days: number; without: readonly number[]; traceFile?: string };

/** Compiled modules: compiling them is half of the time before the first seed of a process. */
const COMPILED = fileURLToPath(new URL('../node_modules/.cache/portico-compiled', import.meta.url));
/** A process and its session of PostgreSQL take turns, and waiting for a turn uses no core. */
export const PROCESSES = availableParallelism() + 1;
const SCRIPT = fileURLToPath(import.meta.resolve('./worker.ts'));

/** Simulates the tasks in a few processes; calls `onReport` in the order in which they end. */
export async function runTasks(
  tasks: readonly Task[],
  {
    servers,
    processes = PROCESSES,
    onReport,
    signal,
    execArgv = [],
    env = {},
  }: {
    servers: Servers;
    processes?: number;
    /** `stop` ends the run after this report. */
    onReport(report: SeedReport): 'stop' | undefined;
    /** Ends the processes. */
    signal?: AbortSignal | undefined;
    execArgv?: readonly string[];
    env?: Readonly<Record<string, string>>;
  },
): Promise<void> {
  const waiting = [...tasks];
  const children = new Set<ChildProcess>();
  let isOver = false;

  async function work(): Promise<void> {
    const server = await servers.take();
    if (waiting.length === 0 || isOver) return servers.giveBack(server);
    const child = fork(SCRIPT, {
      execArgv: [...process.execArgv, ...execArgv],
      // Only logins at the server use the thread pool.
      env: {
        NODE_COMPILE_CACHE: COMPILED,
        ...process.env,
        ...server.environment,
        UV_THREADPOOL_SIZE: '1',
        ...env,
      },
      ...(signal ? { signal } : {}),
    });
    children.add(child);
    const exited = new Promise((resolve) => child.once('exit', resolve));
    // Also after the last report: an abort is an error of the child.
    child.on('error', () => undefined);
    try {
      for (let task = waiting.shift(); task && !isOver; task = waiting.shift())
        if (onReport(await reportOf(child, task)) === 'stop') isOver = true;
    } finally {
      children.delete(child);
      child.kill();
      // Its server is stopped next, which it would report as an error.
      await exited;
    }
    servers.giveBack(server);
  }

  /** The others would lose their servers: a failure ends them, too. */
  async function workUntilFailure(): Promise<void> {
    try {
      await work();
    } catch (error) {
      isOver = true;
      for (const child of children) child.kill();
      throw error;
    }
  }

  const ended = await Promise.allSettled(
    Array.from({ length: Math.min(processes, tasks.length) }, workUntilFailure),
  );
  for (const result of ended) if (result.status === 'rejected') throw result.reason;
}

function reportOf(child: ChildProcess, task: Task): Promise<SeedReport> {
  return new Promise((resolve, reject) => {
    const ended = (code: number | null) =>
      reject(new Error(`the process of seed ${task.seed} ended with ${code}`));
    child.once('exit', ended).once('error', reject);
    child.once('message', (report) => {
      child.off('exit', ended).off('error', reject);
      resolve(report as SeedReport);
    });
    child.send(task);
  });
}
