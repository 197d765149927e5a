import { globSync, mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { prepareBrowser } from '../e2e/support/browser.ts';
import { ensureDashboardBuild } from '../server/dashboard/build.ts';
import { startEmbeddedPostgres } from '../server/infrastructure/database/embedded/embedded-postgres.ts';
import { prepareTemplate } from '../testing/database.ts';

/**
 * `npm test`: one PostgreSQL for the run, the test files in parallel on it, and a closing line with the counts.
 * `npm test -- server/files` runs what lies there; `npm test -- server/infrastructure/http/errors.test.ts` one file.
 */
const PATTERNS = ['server', 'dashboard', 'testing', 'scripts', 'docs', 'e2e'].map(
  (room) => `${room}/**/*.test.ts`,
);

/** A test database that is thrown away needs no protection against a power failure. */
const THROWAWAY_SETTINGS = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  max_connections: '300',
};

const wanted = process.argv.slice(2);
const files = globSync(PATTERNS)
  .filter((file) => wanted.length === 0 || wanted.some((prefix) => file.startsWith(prefix)))
  .sort();
if (files.length === 0) {
  process.stderr.write(`There is no test file under ${wanted.join(', ')}.\n`);
  process.exit(1);
}

// Ctrl-C ends the test files, not this process: the database server has to be stopped and removed first.
const interrupted = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => interrupted.abort());

const dataDir = mkdtempSync(join(tmpdir(), 'portico-test-'));
const postgres = await startEmbeddedPostgres({ dataDir, settings: THROWAWAY_SETTINGS });
try {
  await prepareTemplate(postgres);
  // Here and not in the files: they run beside each other, and would all begin with it.
  await ensureDashboardBuild((text) => process.stderr.write(text));
  if (files.some((file) => file.startsWith('e2e'))) await prepareBrowser();
  const counts = await runFiles();
  const succeeded = counts.failed === 0 && counts.passed > 0 && !interrupted.signal.aborted;
  process.exitCode = succeeded ? 0 : 1;
  process.stdout.write(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped\n`);
} finally {
  await postgres.stop();
  rmSync(dataDir, { recursive: true, force: true });
}

async function runFiles(): Promise<{ passed: number; failed: number; skipped: number }> {
  const events = run({ files, concurrency: availableParallelism(), signal: interrupted.signal });
  let counts = { passed: 0, failed: 1, skipped: 0 };
  events.on('test:summary', (summary) => {
    if (summary.file !== undefined) return;
    const { tests, passed, skipped, todo } = summary.counts;
    counts = { passed, failed: tests - passed - skipped - todo, skipped: skipped + todo };
  });
  const printed = events.compose(new spec());
  printed.pipe(process.stdout, { end: false });
  // A terminal that was closed ends the printing, not the run: the server must not be left behind.
  process.stdout.on('error', () => printed.resume());
  await new Promise<void>((resolve, reject) => {
    printed.on('end', resolve);
    printed.on('error', reject);
  });
  return counts;
}
