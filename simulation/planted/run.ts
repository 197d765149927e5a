import { kindOfFailure } from '../failures.ts';
import type { SeedReport } from '../seed.ts';
import type { Servers } from '../servers.ts';
import { PROCESSES, runTasks } from '../workers.ts';
import { PLANTED_BUGS, type PlantedBug } from './bugs.ts';

const MAX_SEEDS = 50;
const HOOKS = import.meta.resolve('./hooks.ts');

/** `seeds` is the number that was needed; undefined if the bug was not found. */
type Found = { bug: PlantedBug; seeds: number | undefined; failure: string };

/** Options of a process that runs the code with the bug. */
export function plant(bug: PlantedBug) {
  return { execArgv: ['--import', HOOKS], env: { PLANTED_BUG: bug.name } };
}

/** The same for a process that is not forked: its environment. */
export function plantInProcess(bug: PlantedBug): Record<string, string> {
  return { NODE_OPTIONS: `--import=${HOOKS}`, PLANTED_BUG: bug.name };
}

export function findPlanted(name: string): PlantedBug {
  const [found, ...others] = PLANTED_BUGS.filter((bug) => bug.name.includes(name));
  if (found && others.length === 0) return found;
  const names = PLANTED_BUGS.map((bug) => `  ${bug.name}`).join('\n');
  throw new RangeError(`--bug must be part of the name of one planted bug:\n${names}`);
}

/** Simulates seeds on the code with the bug until a check fails. */
export async function findBug(
  bug: PlantedBug,
  { servers, maxSeeds = MAX_SEEDS, signal }: { servers: Servers; maxSeeds?: number; signal?: AbortSignal },
): Promise<Found> {
  const tasks = Array.from({ length: maxSeeds }, (_, index) => ({ seed: index + 1, days: 7, without: [] }));
  let found: Found = { bug, seeds: undefined, failure: '' };
  await runTasks(tasks, {
    ...{ servers, processes: 1, signal },
    ...plant(bug),
    onReport({ seed, failure }: SeedReport) {
      if (failure === undefined) return undefined;
      found = { bug, seeds: seed, failure };
      return 'stop';
    },
  });
  return found;
}

/** All planted bugs, as the table of the page about the simulation. */
export async function findAllBugs(
  write: (text: string) => void,
  names: string,
  { servers, signal }: { servers: Servers; signal: AbortSignal },
): Promise<boolean> {
  let isComplete = true;
  const waiting = PLANTED_BUGS.filter(({ name }) => name.includes(names));
  write('| Bug | Seeds | Found by |\n| --- | --- | --- |\n');
  async function work(): Promise<void> {
    for (let bug = waiting.shift(); bug; bug = waiting.shift()) {
      const { seeds, failure } = await findBug(bug, { servers, signal });
      isComplete &&= seeds !== undefined;
      write(`| ${bug.name} | ${seeds ?? 'not found'} | ${kindOfFailure(failure)} |\n`);
    }
  }
  await Promise.all(Array.from({ length: PROCESSES }, work));
  return isComplete;
}
