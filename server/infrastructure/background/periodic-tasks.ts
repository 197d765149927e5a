import { tryRunUnderLock } from '../database/advisory-lock.ts';
import type { Database } from '../database/database.ts';
import { systemTimers, type Timers } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';

/** Idempotent and bounded. It selects everything that is due, so a missed run is made up by the next one. */
export type PeriodicTask = { name: string; run(): Promise<unknown> };

type TaskDeps = { tasks: readonly PeriodicTask[]; log: Log; timers?: Timers | undefined };

const NODE_INTERVAL_MS = 60_000;
const CLUSTER_INTERVAL_MS = 30_000;

/** The lock's name in earlier releases: nodes of both versions must exclude each other during an upgrade. */
const CLUSTER_LOCK = 'sweeper';

/** Tasks that every node runs. */
export function createNodeTasks({ tasks, log, timers }: TaskDeps) {
  const runOnce = () => runTasks(tasks, log);
  return { runOnce, ...createSchedule({ everyMs: NODE_INTERVAL_MS, run: runOnce, log, timers }) };
}

/** Tasks that one node at a time runs: in parallel they would contend for the same rows. */
export function createClusterTasks({ database, tasks, log, timers }: TaskDeps & { database: Database }) {
  /** False while another node runs them. */
  const runOnce = () => tryRunUnderLock(database, CLUSTER_LOCK, () => runTasks(tasks, log));
  return { runOnce, ...createSchedule({ everyMs: CLUSTER_INTERVAL_MS, run: runOnce, log, timers }) };
}

async function runTasks(tasks: readonly PeriodicTask[], log: Log): Promise<void> {
  for (const task of tasks) {
    try {
      await task.run();
    } catch (error) {
      log.warn({ err: error, task: task.name }, 'periodic task failed');
    }
  }
}

function createSchedule({
  everyMs,
  run,
  log,
  timers = systemTimers,
}: {
  everyMs: number;
  run(): Promise<unknown>;
  log: Log;
  timers?: Timers | undefined;
}) {
  let cancel: (() => void) | undefined;
  let running: Promise<void> | undefined;

  async function runLogged(): Promise<void> {
    try {
      await run();
    } catch (error) {
      log.warn({ err: error }, 'periodic tasks failed');
    }
  }

  function start(): void {
    cancel = timers.after(everyMs, () => {
      start();
      // A run that takes longer than the interval is not followed by a backlog of runs.
      running ??= runLogged().finally(() => {
        running = undefined;
      });
    });
  }

  return {
    start,
    async stop(): Promise<void> {
      cancel?.();
      await running;
    },
  };
}
