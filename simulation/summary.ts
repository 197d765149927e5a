import type { Options } from './options.ts';
import type { SeedReport } from './seed.ts';

type Repeated = Pick<Options, 'days' | 'bug' | 'without'> & { seed: number };

/** The command that repeats a seed. */
export function commandOf({ seed, days, bug, without }: Repeated): string {
  return [
    `npm run simulate -- --seed ${seed}`,
    ...(days === 7 ? [] : [`--days ${days}`]),
    ...(without.length === 0 ? [] : [`--without ${without.join()}`]),
    ...(bug ? [`--bug '${bug}'`] : []),
  ].join(' ');
}

/** Adds up the reports of many seeds. */
export function createSummary(options: Options) {
  const { seeds } = options;
  const repeat = (seed: number) => `${commandOf({ ...options, seed })} --trace`;
  const startedAt = performance.now();
  const reports: SeedReport[] = [];
  const sum = (value: (report: SeedReport) => number) =>
    reports.reduce((total, report) => total + value(report), 0);
  const failures = () => reports.filter(({ failure }) => failure !== undefined);

  return {
    add: (report: SeedReport) => void reports.push(report),
    failed: () => failures().length,
    line({ seed, hash, events, attempts, failure, tail }: SeedReport): string {
      const head = `${reports.length}/${seeds.length} seed ${seed} ${hash} ${events} events ${attempts} attempts`;
      if (failure === undefined) return `${head} passed\n`;
      return `${head} FAILED\n${tail.join('\n')}\n${failure}\nRepeat with: ${repeat(seed)}\n`;
    },
    text(): string {
      const faults = new Map<string, number>();
      for (const report of reports)
        for (const [kind, count] of Object.entries(report.faults))
          faults.set(kind, (faults.get(kind) ?? 0) + count);
      const byKind = [...faults]
        .sort(([, one], [, other]) => other - one)
        .map(([kind, count]) => `  ${count} ${kind}`);
      return [
        '',
        `${reports.length} ${reports.length === 1 ? 'seed' : 'seeds'}, ${failures().length} failed, ${Math.round((performance.now() - startedAt) / 1_000)} s`,
        `${sum(({ days }) => days)} days simulated, ${sum(({ steps }) => steps)} steps`,
        `${sum(({ events }) => events)} events, ${sum(({ attempts }) => attempts)} attempts, ${sum(({ duplicates }) => duplicates)} duplicates`,
        `${sum(({ checks }) => checks)} checks`,
        'Faults:',
        ...byKind,
        ...failures().map(({ seed }) => `Failed: ${repeat(seed)}`),
        '',
      ].join('\n');
    },
  };
}
