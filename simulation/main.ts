import { availableParallelism } from 'node:os';
import { type Options, parseOptions, USAGE } from './options.ts';
import { findAllBugs } from './planted/run.ts';
import { startServer } from './server.ts';
import { shrink } from './shrink.ts';
import { createSummary } from './summary.ts';
import { runTasks } from './workers.ts';

/** `npm run simulate -- --seeds 200`: weeks of faults in seconds. Exits with 1 if a check failed. */
const INTERRUPTED = 130;
const write = (text: string) => void process.stdout.write(text);

const options = readOptions();
if (options) {
  const interrupted = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => interrupted.abort());
  const server = await startServer();
  try {
    process.exitCode = (await run(options, interrupted.signal)) ? 0 : 1;
  } catch (error) {
    if (!interrupted.signal.aborted) throw error;
    write('Interrupted.\n');
    process.exitCode = INTERRUPTED;
  } finally {
    await server.stop();
  }
}

function readOptions(): Options | undefined {
  const args = process.argv.slice(2);
  if (args.includes('--help')) return void write(USAGE);
  try {
    return parseOptions(args);
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n${USAGE}`);
    process.exitCode = 1;
    return undefined;
  }
}

/** Whether every check passed. */
async function run({ seeds, days, without, mode, bug }: Options, signal: AbortSignal): Promise<boolean> {
  const tasks = seeds.map((seed) => ({
    ...{ seed, days, without },
    ...(mode === 'trace' ? { traceFile: `simulation-${seed}.log` } : {}),
  }));
  const [first] = tasks;
  if (mode === 'planted') return await findAllBugs(write, bug, signal);
  if (mode === 'shrink' && first) {
    write(await shrink(first, write, signal));
    return true;
  }
  const summary = createSummary(seeds.length);
  await runTasks(tasks, {
    processes: availableParallelism(),
    signal,
    onReport(report) {
      summary.add(report);
      write(summary.line(report));
      return undefined;
    },
  });
  write(summary.text());
  return summary.failed() === 0;
}
