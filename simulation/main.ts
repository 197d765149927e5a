import { createPlan } from './agenda/coincidences.ts';
import { createRandom } from './machine/random.ts';
import { type Options, parseOptions, USAGE } from './options.ts';
import { findAllBugs, findPlanted, plant } from './planted/run.ts';
import { createServers } from './servers.ts';
import { describeShrunk, shrink } from './shrink.ts';
import { commandOf, createSummary } from './summary.ts';
import { runTasks, type Task } from './workers.ts';

/** `npm run simulate -- --seeds 200`: weeks of faults in seconds. Exits with 1 if a check failed. */
const INTERRUPTED = 130;
const write = (text: string) => void process.stdout.write(text);

const servers = createServers();
const options = readOptions();
if (options) {
  const interrupted = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => interrupted.abort());
  try {
    process.exitCode = (await run(options, interrupted.signal)) ? 0 : 1;
  } catch (error) {
    if (!interrupted.signal.aborted) throw error;
    write('Interrupted.\n');
    process.exitCode = INTERRUPTED;
  } finally {
    await servers.stop();
  }
}

function readOptions(): Options | undefined {
  const args = process.argv.slice(2);
  if (args.includes('--help')) return void write(USAGE);
  try {
    const parsed = parseOptions(args);
    if (parsed.bug && parsed.mode !== 'planted') findPlanted(parsed.bug);
    return parsed;
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n${USAGE}`);
    process.exitCode = 1;
    return undefined;
  }
}

/** Whether every check passed. */
async function run(chosen: Options, signal: AbortSignal): Promise<boolean> {
  const { seeds, days, without, mode, bug } = chosen;
  const tasks = seeds.map((seed) => ({
    ...{ seed, days, without },
    ...(mode === 'trace' ? { traceFile: `simulation-${seed}.log` } : {}),
  }));
  const [first] = tasks;
  if (mode === 'planted') return await findAllBugs(write, bug, { servers, signal });
  if (mode === 'shrink' && first) {
    await shrinkSeed(first, chosen, signal);
    return true;
  }
  const summary = createSummary(chosen);
  await runTasks(tasks, {
    servers,
    ...(bug ? plant(findPlanted(bug)) : {}),
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

async function shrinkSeed(task: Task, { bug }: Options, signal: AbortSignal): Promise<void> {
  const { seed, days, without } = task;
  const { entries } = createPlan(createRandom(String(seed)).fork('agenda'), days);
  const faults = entries.filter(({ isFault }) => isFault);
  const shrunk = await shrink({
    ...{ faults, without, write },
    async run(leftOut) {
      let failure: string | undefined;
      await runTasks([{ ...task, without: leftOut }], {
        ...(bug ? plant(findPlanted(bug)) : {}),
        ...{ servers, processes: 1, signal },
        onReport(report) {
          failure = report.failure;
          return undefined;
        },
      });
      return failure;
    },
  });
  write(
    describeShrunk(shrunk, { faults: faults.length, repeat: commandOf({ seed, days, bug, without: [] }) }),
  );
}
