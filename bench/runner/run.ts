import { once } from 'node:events';
import type { Benchmark, Context } from './benchmark.ts';
import type { Options } from './options.ts';
import { figuresOf, type Line, lineOf } from './report.ts';

type Settings = Pick<Options, 'isTrial' | 'historyRows'> & {
  write(text: string): void;
  /** Ends the running benchmark. */
  stop: AbortSignal;
};

const MINUTE_MS = 60_000;
const TRIAL_DIVISOR = 20;

/** Runs a benchmark within its time limit, ends all that it started, and returns its lines of the table. */
export async function runBenchmark(
  name: string,
  { about, limitMinutes, run }: Benchmark,
  { isTrial, historyRows, write, stop }: Settings,
): Promise<Line[]> {
  write(`\n${name}: ${about}\n`);
  try {
    await using resources = new AsyncDisposableStack();
    const context: Context = {
      resources,
      size: (full) => (isTrial ? Math.ceil(full / TRIAL_DIVISOR) : full),
      rounds: (full) => (isTrial ? 1 : full),
      historyRows,
      progress: (text) => write(`  ${text}\n`),
    };
    const ending = AbortSignal.any([stop, AbortSignal.timeout(limitMinutes * MINUTE_MS)]);
    const work = run(context);
    // After the time limit its processes end, so it fails as well.
    work.catch(() => {});
    const figures = await Promise.race([work, rejectOn(ending)]);
    requireFigures(
      name,
      figures.map((figure) => figure.name),
    );
    return figures.map(lineOf);
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    write(`  failed: ${text}\n`);
    return [{ name, verdict: 'failed', error: text }];
  }
}

async function rejectOn(signal: AbortSignal): Promise<never> {
  if (!signal.aborted) await once(signal, 'abort');
  const isTimeout = (signal.reason as Error | undefined)?.name === 'TimeoutError';
  throw new Error(isTimeout ? 'exceeded its time limit' : 'stopped');
}

function requireFigures(benchmark: string, returned: readonly string[]): void {
  const missing = figuresOf(benchmark).filter((name) => !returned.includes(name));
  if (missing.length > 0) throw new Error(`returned no figure for ${missing.join(', ')}`);
}
