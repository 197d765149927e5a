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
  let isOver = false;

  async function work(): Promise<void> {
    const server = await servers.take();
    if (waiting.length === 0) return servers.giveBack(server);
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
    // Also after the last report: an abort is an error of the child.
    child.on('error', () => undefined);
    try {
      for (let task = waiting.shift(); task && !isOver; task = waiting.shift())
        if (onReport(await reportOf(child, task)) === 'stop') isOver = true;
    } finally {
      child.kill();
      servers.giveBack(server);
    }
  }

  await Promise.all(Array.from({ length: Math.min(processes, tasks.length) }, work));
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
