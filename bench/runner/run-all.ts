import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { dirname } from 'node:path';
import type { Benchmark } from './benchmark.ts';
import type { Options } from './options.ts';
import { isReached, type Line, tableOf } from './report.ts';
import { runBenchmark } from './run.ts';

type Run = {
  benchmarks: Readonly<Record<string, Benchmark>>;
  options: Options;
  startedAt: Date;
  write(text: string): void;
  stop: AbortSignal;
};

/** Runs the benchmarks one after another, prints the table and returns the exit code. */
export async function runAll({ benchmarks, options, startedAt, write, stop }: Run): Promise<number> {
  const figures: Line[] = [];
  const load = [loadavg()[0]];
  for (const name of options.names) {
    const benchmark = benchmarks[name];
    if (!benchmark || stop.aborted) break;
    figures.push(...(await runBenchmark(name, benchmark, { ...options, write, stop })));
    load.push(loadavg()[0]);
    // After each benchmark, so that an interrupted run is not lost.
    const machine = { cores: cpus().length, model: cpus()[0]?.model, node: process.version, load };
    save(options.jsonFile, { startedAt, endedAt: new Date(), isTrial: options.isTrial, machine, figures });
  }
  write(`\n${tableOf(figures)}\n\nFigures written to ${options.jsonFile}\n`);
  return figures.every(isReached) && !stop.aborted ? 0 : 1;
}

function save(file: string, run: object): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify(run, null, 2)}\n`);
}
