import type { Database } from '../database/database.ts';
import { runExclusively } from '../database/exclusive.ts';
import type { Timers } from '../runtime/clock.ts';
import type { Log } from '../runtime/log.ts';
import { type Chore, createRounds, runChores } from './chores.ts';

const ROUND_EVERY_MS = 30_000;

/** Chores that one node at a time does, whichever comes first: done by every node they would only get in each other's way. */
export function createSweeper({
  database,
  log,
  timers,
  chores,
}: {
  database: Database;
  log: Log;
  timers?: Timers;
  chores: readonly Chore[];
}) {
  /** False when another node is at it. */
  const runOnce = () => runExclusively(database, 'sweeper', () => runChores(chores, log));
  return { runOnce, ...createRounds({ everyMs: ROUND_EVERY_MS, run: runOnce, log, timers }) };
}
