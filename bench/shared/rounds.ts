import type { Context } from '../runner/benchmark.ts';

export type Comparison = { ratio: number; own: number; reference: number };

type Sides = {
  rounds?: number;
  /** A rate or a time. */
  own(): Promise<number>;
  reference(): Promise<number>;
  names?: readonly [own: string, reference: string];
  unit?: string;
};

const ROUNDS = 5;

/**
 * Measures both sides alternately, so that other load on the machine affects both. The ratio is the median of the
 * ratios of the rounds.
 */
export async function compareRounds(
  { rounds, progress }: Context,
  { rounds: full = ROUNDS, own, reference, names = ['portico', 'bare'], unit = '/s' }: Sides,
): Promise<Comparison> {
  const count = rounds(full);
  const results: Comparison[] = [];
  for (let round = 1; round <= count; round += 1) {
    const bare = await reference();
    const ours = await own();
    results.push({ ratio: ours / bare, own: ours, reference: bare });
    const figures = `${names[0]} ${figure(ours)}${unit}, ${names[1]} ${figure(bare)}${unit}`;
    progress(`round ${round} of ${count}: ${figures}, ratio ${(ours / bare).toFixed(2)}`);
  }
  return medianOf(results);
}

/** The median of each value. */
export function medianOf(comparisons: readonly Comparison[]): Comparison {
  return {
    ratio: median(comparisons.map(({ ratio }) => ratio)),
    own: median(comparisons.map(({ own }) => own)),
    reference: median(comparisons.map(({ reference }) => reference)),
  };
}

function figure(value: number): string {
  return value < 100 ? value.toFixed(1) : String(Math.round(value));
}

export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

export function percentile(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) * share)] ?? Number.NaN;
}
