import type { Log } from '../runtime/log.ts';
import { type Chore, createRounds, runChores } from './chores.ts';

const ROUND_EVERY_MS = 60_000;

/**
 * Small chores that keep tables and memory bounded. Each is idempotent, so it does not
 * matter which node does it, how often, or that two do it at once.
 */
export function createHousekeeping({ chores, log }: { chores: readonly Chore[]; log: Log }) {
  const runOnce = () => runChores(chores, log);
  return { runOnce, ...createRounds({ everyMs: ROUND_EVERY_MS, run: runOnce, log }) };
}
