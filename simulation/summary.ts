import type { SeedReport } from './seed.ts';

/** Adds up the reports of many seeds. */
export function createSummary(seeds: number) {
  const startedAt = performance.now();
  const reports: SeedReport[] = [];
  const sum = (value: (report: SeedReport) => number) =>
    reports.reduce((total, report) => total + value(report), 0);
  const failures = () => reports.filter(({ failure }) => failure !== undefined);

  return {
    add: (report: SeedReport) => void reports.push(report),
    failed: () => failures().length,
    line({ seed, hash, events, attempts, failure, tail, days }: SeedReport): string {
      const head = `${reports.length}/${seeds} seed ${seed} ${hash} ${events} events ${attempts} attempts`;
      if (failure === undefined) return `${head} passed\n`;
      const repeat = `npm run simulate -- --seed ${seed}${days === 7 ? '' : ` --days ${days}`} --trace`;
      return `${head} FAILED\n${tail.join('\n')}\n${failure}\nRepeat with: ${repeat}\n`;
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
        ...failures().map(({ seed }) => `Failed: npm run simulate -- --seed ${seed} --trace`),
        '',
      ].join('\n');
    },
  };
}
