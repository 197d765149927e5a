import { parseArgs } from 'node:util';

export type Options = {
  seeds: readonly number[];
  days: number;
  /** Faults to leave out, by their position among the faults of the seed. */
  without: readonly number[];
  mode: 'run' | 'trace' | 'shrink' | 'planted';
  /** Part of the name of a planted bug. */
  bug: string;
};

const MAX_SEED = 1_000_000_000;
const MAX_SEEDS = 100_000;
const MAX_DAYS = 30;

export const USAGE = `Usage: npm run simulate -- [--seeds 20] [--from 1] [--days 7]
       npm run simulate -- --seed N [--trace | --shrink] [--without 0,3] [--days 7] [--bug NAME]
       npm run simulate -- --planted [--bug NAME]

  --seeds     how many seeds, from --from on
  --seed      one seed
  --days      how much virtual time each seed covers
  --trace     writes the steps of each seed to simulation-N.log
  --shrink    leaves out faults while the seed fails, and names those it needs
  --without   leaves out these faults, as --shrink prints them
  --planted   looks for each planted bug in up to 50 seeds
  --bug       with --planted only bugs whose name contains this text, otherwise the bug to plant
`;

export function parseOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seeds: { type: 'string', default: '20' },
      from: { type: 'string', default: '1' },
      seed: { type: 'string' },
      days: { type: 'string', default: '7' },
      without: { type: 'string', default: '' },
      trace: { type: 'boolean' },
      shrink: { type: 'boolean' },
      planted: { type: 'boolean' },
      bug: { type: 'string', default: '' },
    },
  });
  const { seed } = values;
  if (values.shrink && seed === undefined) throw new RangeError('--shrink needs --seed');
  const first = integerOf('seed', seed ?? values.from, MAX_SEED);
  const count = seed === undefined ? integerOf('seeds', values.seeds, MAX_SEEDS) : 1;
  return {
    seeds: Array.from({ length: count }, (_, index) => first + index),
    days: integerOf('days', values.days, MAX_DAYS),
    without: values.without.split(',').filter(Boolean).map(Number),
    mode: values.planted ? 'planted' : values.shrink ? 'shrink' : values.trace ? 'trace' : 'run',
    bug: values.bug,
  };
}

function integerOf(name: string, text: string, most: number): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= 1 && value <= most) return value;
  throw new RangeError(`--${name} must be a whole number from 1 to ${most}`);
}
