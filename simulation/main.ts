import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { findAllBugs } from './planted/run.ts';
import type { SeedReport } from './seed.ts';
import { startServer } from './server.ts';
import { shrink } from './shrink.ts';
import { createSummary } from './summary.ts';
import { runTasks } from './workers.ts';

/**
 * `npm run simulate`: weeks of faults in seconds.
 *
 *     npm run simulate -- --seeds 200            seeds 1 to 200
 *     npm run simulate -- --seed 17              one seed
 *     npm run simulate -- --seed 17 --trace      writes its steps to simulation-17.log
 *     npm run simulate -- --seed 17 --shrink     looks for the fewest faults that still fail
 *     npm run simulate -- --planted              looks for every planted bug, in up to 50 seeds each
 */
const { values: options } = parseArgs({
  options: {
    seeds: { type: 'string', default: '20' },
    from: { type: 'string', default: '1' },
    seed: { type: 'string' },
    days: { type: 'string', default: '7' },
    without: { type: 'string', default: '' },
    trace: { type: 'boolean', default: false },
    shrink: { type: 'boolean', default: false },
    planted: { type: 'boolean', default: false },
    bug: { type: 'string', default: '' },
  },
});

const days = Number(options.days);
const without = options.without.split(',').filter(Boolean).map(Number);
const only = options.seed === undefined ? undefined : Number(options.seed);
const first = only ?? Number(options.from);
const seeds = only === undefined ? Number(options.seeds) : 1;
const write = (text: string) => void process.stdout.write(text);

const server = await startServer();
try {
  const tasks = Array.from({ length: seeds }, (_, index) => ({
    ...{ seed: first + index, days, without },
    ...(options.trace ? { traceFile: `simulation-${first + index}.log` } : {}),
  }));
  if (options.planted) process.exitCode = (await findAllBugs(write, options.bug)) ? 0 : 1;
  else if (options.shrink && tasks[0]) write(await shrink(tasks[0], write));
  else {
    const summary = createSummary(seeds);
    await runTasks(tasks, {
      processes: availableParallelism(),
      onReport(report: SeedReport) {
        summary.add(report);
        write(summary.line(report));
        return undefined;
      },
    });
    write(summary.text());
    process.exitCode = summary.failed() > 0 ? 1 : 0;
  }
} finally {
  await server.stop();
}
