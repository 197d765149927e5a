import { availableParallelism } from 'node:os';
import type { SeedReport } from '../seed.ts';
import { runTasks } from '../workers.ts';
import { PLANTED_BUGS, type PlantedBug } from './bugs.ts';

const MAX_SEEDS = 50;
const HOOKS = import.meta.resolve('./hooks.ts');

/** `seeds` is the number that was needed; undefined if the bug was not found. */
type Found = { bug: PlantedBug; seeds: number | undefined; failure: string };

/** Simulates seeds on the code with the bug until a check fails. */
export async function findBug(
  bug: PlantedBug,
  { maxSeeds = MAX_SEEDS, signal }: { maxSeeds?: number; signal?: AbortSignal } = {},
): Promise<Found> {
  const tasks = Array.from({ length: maxSeeds }, (_, index) => ({ seed: index + 1, days: 7, without: [] }));
  let found: Found = { bug, seeds: undefined, failure: '' };
  await runTasks(tasks, {
    processes: 1,
    signal,
    execArgv: ['--import', HOOKS],
    env: { PLANTED_BUG: bug.name },
    onReport({ seed, failure }: SeedReport) {
      if (failure === undefined) return undefined;
      found = { bug, seeds: seed, failure: failure.split('\n')[0] ?? '' };
      return 'stop';
    },
  });
  return found;
}

/** All planted bugs, as the table of the page about the simulation. */
export async function findAllBugs(
  write: (text: string) => void,
  names: string,
  signal: AbortSignal,
): Promise<boolean> {
  let isComplete = true;
  const waiting = PLANTED_BUGS.filter(({ name }) => name.includes(names));
  write('| Bug | Seeds | Found by |\n| --- | --- | --- |\n');
  async function work(): Promise<void> {
    for (let bug = waiting.shift(); bug; bug = waiting.shift()) {
      const { seeds, failure } = await findBug(bug, { signal });
      isComplete &&= seeds !== undefined;
      write(`| ${bug.name} | ${seeds ?? 'not found'} | ${describe(failure)} |\n`);
    }
  }
  await Promise.all(Array.from({ length: availableParallelism() }, work));
  return isComplete;
}

/** Without the guids, names and numbers of one seed. */
function describe(failure: string): string {
  return failure
    .replace(/[0-9a-f]{32}/g, '…')
    .replace(/https:\/\/e\d+\.example\/hook/g, 'an endpoint')
    .replace(/\b[abc]\.\d+\b/g, 'a node')
    .replaceAll('|', ' ')
    .slice(0, 110);
}
