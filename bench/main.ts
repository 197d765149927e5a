import { BENCHMARKS } from './benchmarks.ts';
import { readOptions } from './runner/options.ts';
import { runAll } from './runner/run-all.ts';

/** `npm run bench -- relay latency`: see docs/contributors/performance.md. */
const startedAt = new Date();
const options = readOptions(process.argv.slice(2), Object.keys(BENCHMARKS), startedAt);
if ('text' in options) {
  process[options.exitCode === 0 ? 'stdout' : 'stderr'].write(options.text);
  process.exit(options.exitCode);
}

const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stop.abort());
const write = (text: string) => void process.stdout.write(text);
// Explicit, because the work of a benchmark that exceeded its time limit may still wait for an ended process.
process.exit(await runAll({ benchmarks: BENCHMARKS, options, startedAt, write, stop: stop.signal }));
