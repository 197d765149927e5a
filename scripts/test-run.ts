import { relative } from 'node:path';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { fileURLToPath } from 'node:url';
import { createQueue, QUEUE_VARIABLE, type Queue } from './test-queue.ts';

export type Counts = { passed: number; failed: number; skipped: number };
export type FileTimes = Map<string, number>;

/** A file in which no test ends for so long hangs: it is ended and named. */
const MAX_SILENCE_MS = 120_000;
/** Their first test installs all dependencies, or compiles the standard library of a language. */
const LONG_FILES: readonly string[] = ['scripts/fresh-clone.test.ts', 'examples/receivers/receivers.test.ts'];
const MAX_LONG_MS = 900_000;
const WORKER = fileURLToPath(new URL('test-worker.ts', import.meta.url));
/** The specs of a file share one application and one browser for as long as their process lives. */
const OWN_PROCESS = /^e2e\//;
const SLOWEST_SHOWN = 10;

type FileCounts = { tests: number; passed: number; skipped: number; todo: number };
type TestEvent = {
  type: string;
  data: { file?: string; nesting?: number; name: string; counts: FileCounts };
};

/** `unfinished`: files that hung, or ended their process. `notRun`: files that no worker took. */
export type Results = { counts: Counts; times: FileTimes; unfinished: string[]; notRun: string[] };

/** Runs the files in worker processes and prints a file's tests when it has ended. */
export async function runTestFiles(
  files: readonly string[],
  { concurrency, signal }: { concurrency: number; signal: AbortSignal },
): Promise<Results> {
  const counts: Counts = { passed: 0, failed: 0, skipped: 0 };
  const times: FileTimes = new Map();
  const reporter = new spec();
  reporter.pipe(process.stdout, { end: false });
  // A closed terminal ends the printing, not the run: the database server still has to be stopped.
  process.stdout.on('error', () => reporter.resume());
  const printed = new Promise((resolve, reject) => reporter.on('end', resolve).on('error', reject));
  const alone = files.filter((file) => OWN_PROCESS.test(file)).map((file) => createQueue([file]));
  const shared = createQueue(files.filter((file) => !OWN_PROCESS.test(file)));

  async function runWorker(queue: Queue): Promise<void> {
    let since = performance.now();
    let events: TestEvent[] = [];
    let hasFailedTest = false;
    function print(): void {
      for (const event of events) reporter.write(event);
      events = [];
      since = performance.now();
    }
    for await (const event of startWorker(queue.folder, signal)) {
      // A worker that finds the queue empty is reported as a test.
      if (event.data.name === WORKER && event.type === 'test:pass') return;
      if (event.type === 'test:summary') {
        if (event.data.file === undefined) add(counts, event.data.counts);
      } else if (!isRunDiagnostic(event)) events.push(event);
      if (event.type === 'test:fail') {
        // The counts have no suites, so a file that cannot be loaded would not count.
        if (event.data.nesting === 0 && !hasFailedTest) counts.failed += 1;
        hasFailedTest = event.data.nesting !== 0;
      }
      if (event.data.nesting !== 0 || !/^test:(pass|fail)$/.test(event.type)) continue;
      if (files.includes(event.data.name)) times.set(event.data.name, performance.now() - since);
      print();
    }
    print();
  }

  const waiting = [...alone];
  async function runAlone(): Promise<void> {
    for (let queue = waiting.shift(); queue && !signal.aborted; queue = waiting.shift())
      await runWorker(queue);
  }
  async function runShared(): Promise<void> {
    // A worker ends early when its file hangs or ends the process: another one takes the rest. But not when no file was
    // taken, because the next worker would not start either, for example with a NODE_OPTIONS that Node refuses.
    let before: number;
    do {
      before = shared.waiting().length;
      if (before > 0) await runWorker(shared);
    } while (shared.waiting().length < before && !signal.aborted);
  }
  // Browsers keep the cores busy while tests of processes wait, so both kinds run at once from the start.
  const workers = Array.from({ length: concurrency }, async (_, index) => {
    const parts = index % 2 === 0 ? [runAlone, runShared] : [runShared, runAlone];
    for (const part of parts) await part();
  });
  await Promise.all(workers);
  const notRun = shared.waiting();
  for (const queue of [...alone, shared]) queue.remove();
  reporter.end();
  await printed;
  const unfinished = files.filter((file) => !times.has(file) && !notRun.includes(file));
  return { counts, times, unfinished, notRun };
}

/** Ends the worker when no test of its file ends in time. */
async function* startWorker(queue: string, signal: AbortSignal): AsyncGenerator<TestEvent> {
  const hangs = new AbortController();
  const end = () => hangs.abort(new Error('no test ended for two minutes'));
  let limitMs = MAX_SILENCE_MS;
  let silence = setTimeout(end, limitMs);
  const running = run({
    files: [WORKER],
    concurrency: 1,
    signal: AbortSignal.any([signal, hangs.signal]),
    env: { ...process.env, [QUEUE_VARIABLE]: queue },
  });
  try {
    for await (const event of running as AsyncIterable<TestEvent>) {
      clearTimeout(silence);
      if (event.type === 'test:enqueue' && event.data.nesting === 0)
        limitMs = LONG_FILES.includes(event.data.name) ? MAX_LONG_MS : MAX_SILENCE_MS;
      silence = setTimeout(end, limitMs);
      yield event;
    }
  } finally {
    clearTimeout(silence);
  }
}

export function describeSlowest(times: FileTimes): string {
  const slowest = [...times].sort(([, one], [, other]) => other - one).slice(0, SLOWEST_SHOWN);
  const lines = slowest.map(
    ([file, ms]) => `${(ms / 1_000).toFixed(1).padStart(7)} s  ${relative('.', file)}`,
  );
  return `Slowest files:\n${lines.join('\n')}\n`;
}

function add(counts: Counts, { tests, passed, skipped, todo }: FileCounts): void {
  counts.passed += passed;
  counts.skipped += skipped + todo;
  counts.failed += tests - passed - skipped - todo;
}

/** The counts and the duration at the end of a run, which would be printed once per file. */
function isRunDiagnostic({ type, data }: TestEvent): boolean {
  return type === 'test:diagnostic' && data.nesting === 0 && data.file === undefined;
}
