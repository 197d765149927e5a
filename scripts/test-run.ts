import { relative } from 'node:path';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';

export type Counts = { passed: number; failed: number; skipped: number };
export type FileTimes = Map<string, number>;

/** A file in which no test ends for so long hangs: it is ended and named. */
const MAX_SILENCE_MS = 120_000;
/** Installs all dependencies once more, as quickly as the network and the disk are. */
const INSTALLING_FILE = 'scripts/fresh-clone.test.ts';
const MAX_INSTALLING_MS = 900_000;
const SLOWEST_SHOWN = 10;

type TestEvent = { type: string; data: { file?: string; nesting?: number; name?: string } };

/** Runs each file in a process of its own, `concurrency` at a time, and prints a file's tests when it has ended. */
export async function runTestFiles(
  files: readonly string[],
  { concurrency, signal }: { concurrency: number; signal: AbortSignal },
): Promise<{ counts: Counts; times: FileTimes; hung: string[] }> {
  const counts: Counts = { passed: 0, failed: 0, skipped: 0 };
  const times: FileTimes = new Map();
  const hung: string[] = [];
  const reporter = new spec();
  reporter.pipe(process.stdout, { end: false });
  // A closed terminal ends the printing, not the run: the database server still has to be stopped.
  process.stdout.on('error', () => reporter.resume());
  const printed = new Promise((resolve, reject) => reporter.on('end', resolve).on('error', reject));

  async function runFile(file: string): Promise<void> {
    const hangs = new AbortController();
    const started = performance.now();
    const events: TestEvent[] = [];
    const limitMs = file === INSTALLING_FILE ? MAX_INSTALLING_MS : MAX_SILENCE_MS;
    const silence = setTimeout(() => hangs.abort(new Error('the file hangs')), limitMs);
    const running = run({ files: [file], concurrency: 1, signal: AbortSignal.any([signal, hangs.signal]) });
    for await (const event of running as AsyncIterable<TestEvent & { data: { counts: FileCounts } }>) {
      silence.refresh();
      if (event.type === 'test:summary' && event.data.file === undefined) add(counts, event.data.counts);
      else if (event.type !== 'test:summary' && !isRunDiagnostic(event)) events.push(event);
    }
    clearTimeout(silence);
    if (hangs.signal.aborted) hung.push(file);
    else times.set(file, performance.now() - started);
    for (const event of events) reporter.write(event);
  }

  const waiting = [...files];
  const workers = Array.from({ length: concurrency }, async () => {
    for (let file = waiting.shift(); file && !signal.aborted; file = waiting.shift()) await runFile(file);
  });
  await Promise.all(workers);
  reporter.end();
  await printed;
  return { counts, times, hung };
}

export function describeSlowest(times: FileTimes): string {
  const slowest = [...times].sort(([, one], [, other]) => other - one).slice(0, SLOWEST_SHOWN);
  const lines = slowest.map(
    ([file, ms]) => `${(ms / 1_000).toFixed(1).padStart(7)} s  ${relative('.', file)}`,
  );
  return `Slowest files:\n${lines.join('\n')}\n`;
}

type FileCounts = { tests: number; passed: number; skipped: number; todo: number };

function add(counts: Counts, { tests, passed, skipped, todo }: FileCounts): void {
  counts.passed += passed;
  counts.skipped += skipped + todo;
  counts.failed += tests - passed - skipped - todo;
}

/** The counts and the duration at the end of a run, which would be printed once per file. */
function isRunDiagnostic({ type, data }: TestEvent): boolean {
  return type === 'test:diagnostic' && data.nesting === 0 && data.file === undefined;
}
