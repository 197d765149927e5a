import type { Entry } from './agenda/agenda.ts';
import { describe } from './agenda/agenda.ts';
import { kindOfFailure } from './failures.ts';

/** Simulates the seed without these faults, by their positions; returns the failure, if any. */
export type RunWithout = (without: readonly number[]) => Promise<string | undefined>;

export type Shrunk = {
  /** Undefined if the seed passes. */
  failure: string | undefined;
  needed: readonly Entry[];
  without: readonly number[];
};

/** Removes faults from a failing seed while the same kind of failure stays: halves first, then one by one. */
export async function shrink({
  faults,
  without: leftOut,
  run,
  write,
}: {
  faults: readonly Entry[];
  without: readonly number[];
  run: RunWithout;
  write(text: string): void;
}): Promise<Shrunk> {
  let failure = await run(leftOut);
  if (failure === undefined) return { failure, needed: [], without: leftOut };
  const kind = kindOfFailure(failure);
  write(`${faults.length - leftOut.length} faults: ${kind}\n`);
  let without = new Set(leftOut);
  const known = new Set<string>();

  async function tryWithout(indexes: readonly number[]): Promise<void> {
    const tried = without.union(new Set(indexes));
    const name = [...tried].sort().join();
    if (known.has(name)) return;
    known.add(name);
    const found = await run([...tried]);
    const isSame = found !== undefined && kindOfFailure(found) === kind;
    if (isSame) [without, failure] = [tried, found];
    const left = faults.length - tried.size;
    const result = found === undefined ? 'passes' : isSame ? 'still fails' : 'fails in another way';
    write(`${left} ${left === 1 ? 'fault' : 'faults'}: ${result}\n`);
  }

  for (let size = Math.ceil(faults.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    const left = [...faults.keys()].filter((index) => !without.has(index));
    for (let from = 0; from < left.length; from += size) await tryWithout(left.slice(from, from + size));
  }
  return {
    failure,
    needed: faults.filter((_, index) => !without.has(index)),
    without: [...without].sort((one, other) => one - other),
  };
}

export function describeShrunk(
  { failure, needed, without }: Shrunk,
  { faults, repeat }: { faults: number; repeat: string },
): string {
  if (failure === undefined) return 'The seed passes: there is nothing to shrink.\n';
  const list = without.length > 0 ? ` --without ${without.join()}` : '';
  return [
    '',
    needed.length === 0
      ? `It fails without any of its ${faults} faults:`
      : `It needs ${needed.length} of ${faults} faults:`,
    ...needed.map(({ at, action }) => `  after ${timeText(at)}: ${describe(action)}`),
    failure.split('\n')[0],
    `Repeat with: ${repeat}${list} --trace`,
    '',
  ].join('\n');
}

function timeText(ms: number): string {
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  const days = Math.floor(ms / 86_400_000);
  return `${days} d ${new Date(ms % 86_400_000).toISOString().slice(11, 23)}`;
}
