import { randomInt } from 'node:crypto';
import { parseArgs } from 'node:util';
import type { PlantedBug } from '../simulation/planted/bugs.ts';
import { findPlanted } from '../simulation/planted/run.ts';

/** `--seed` repeats the faults and the load of a run; the interleaving of real processes is never the same. */
export type Options = {
  minutes: number;
  seed: number;
  rate: number;
  keep: boolean;
  bug: PlantedBug | undefined;
};

/** The tokens of the load are valid for 30 minutes. */
const MAX_MINUTES = 20;
const MAX_RATE = 2_000;
const MAX_SEED = 2 ** 31 - 1;

export const USAGE = `Usage: npm run torture -- [--minutes 5] [--seed N] [--rate 100] [--keep] [--bug NAME]

  --minutes   how long faults happen, 0.2 to ${MAX_MINUTES}; draining the queue takes up to 4 minutes more
  --seed      repeats the faults and the load of an earlier run
  --rate      events per second, 1 to ${MAX_RATE}
  --keep      keeps the logs of all processes, as a failed run does
  --bug       plants a bug of the simulation, to see the run fail
`;

export function parseOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      minutes: { type: 'string' },
      seed: { type: 'string' },
      rate: { type: 'string' },
      keep: { type: 'boolean' },
      bug: { type: 'string' },
    },
  });
  return {
    minutes: numberOf('minutes', values.minutes ?? '5', 0.2, MAX_MINUTES),
    seed: numberOf('seed', values.seed ?? String(randomInt(MAX_SEED)), 0, MAX_SEED),
    rate: numberOf('rate', values.rate ?? '100', 1, MAX_RATE),
    keep: values.keep ?? false,
    bug: values.bug === undefined ? undefined : findPlanted(values.bug),
  };
}

function numberOf(name: string, text: string, least: number, most: number): number {
  const value = Number(text);
  if (text.trim() !== '' && value >= least && value <= most) return value;
  throw new RangeError(`--${name} must be a number from ${least} to ${most}`);
}
