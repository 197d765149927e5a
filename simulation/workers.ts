import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { SeedReport } from './seed.ts';

export type Task = { seed: number; days: number; without: readonly number[]; traceFile?: string };

const SCRIPT = fileURLToPath(import.meta.resolve('./worker.ts'));

/** Simulates the tasks in a few processes; calls `onReport` in the order in which they end. */
export async function runTasks(
  tasks: readonly Task[],
  {
    processes,
    onReport,
    execArgv = [],
  }: {
    processes: number;
    /** `stop` ends the run after this report. */
    onReport(report: SeedReport): 'stop' | undefined;
    execArgv?: readonly string[];
  },
): Promise<void> {
  const waiting = [...tasks];
  let isOver = false;

  async function work(): Promise<void> {
    const child = fork(SCRIPT, { execArgv: [...process.execArgv, ...execArgv] });
    try {
      for (let task = waiting.shift(); task && !isOver; task = waiting.shift())
        if (onReport(await reportOf(child, task)) === 'stop') isOver = true;
    } finally {
      child.kill();
    }
  }

  await Promise.all(Array.from({ length: Math.min(processes, tasks.length) }, work));
}

async function reportOf(child: ChildProcess, task: Task): Promise<SeedReport> {
  child.send(task);
  const [report] = await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(([code]) => {
      throw new Error(`the process of seed ${task.seed} ended with ${code}`);
    }),
  ]);
  return report as SeedReport;
}
