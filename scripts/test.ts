import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import { prepareBrowser } from '../e2e/support/browser.ts';
import { ensureDashboardBuild } from '../server/dashboard/build.ts';
import { startEmbeddedPostgres } from '../server/infrastructure/database/embedded/embedded-postgres.ts';
import { reservePortBlock } from '../testing/app/port-block.ts';
import { prepareTemplate } from '../testing/database/database.ts';
import { THROWAWAY_SETTINGS } from '../testing/database/throwaway-settings.ts';
import { saveTimes, selectTestFiles } from './test-files.ts';
import { createRunFolder } from './test-folder.ts';
import { describeSlowest, runTestFiles } from './test-run.ts';

/**
 * `npm test`: one PostgreSQL for the run, the test files in parallel on it.
 *
 *     npm test -- server/files                 the files under a path
 *     npm test -- --changed                    what uncommitted changes can affect
 *     npm test -- --changed=main               what changed since a commit can affect
 */

const MAX_CONNECTIONS = 300;

const files = selectTestFiles(process.argv.slice(2));
if (files.length === 0) {
  process.stderr.write('No test file matches.\n');
  process.exit(process.argv.some((arg) => arg.startsWith('--changed')) ? 0 : 1);
}
// Compiled modules are shared among the workers and with the servers that the tests start.
process.env.NODE_COMPILE_CACHE ??= resolve('node_modules', '.cache', 'portico-compiled');

// Ctrl-C ends the test files, not this process: the database server has to be stopped and removed first.
const interrupted = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => interrupted.abort());

const folder = createRunFolder();
const releasePorts = await reservePortBlock();
const dataDir = join(folder.path, 'database');
const postgres = await startEmbeddedPostgres({
  dataDir,
  settings: { ...THROWAWAY_SETTINGS, max_connections: String(MAX_CONNECTIONS) },
});
try {
  await prepareTemplate(dataDir, postgres);
  // Built once here: test files run in parallel and would each build it.
  await ensureDashboardBuild((text) => process.stderr.write(text));
  if (files.some((file) => file.startsWith('e2e'))) await prepareBrowser();
  const { counts, times, unfinished, notRun } = await runTestFiles(files, {
    // More than cores: tests wait for processes, leases and answers about a third of the time.
    concurrency: availableParallelism() + 2,
    signal: interrupted.signal,
  });
  saveTimes(times);
  const succeeded = counts.failed + unfinished.length + notRun.length === 0 && counts.passed > 0;
  process.exitCode = succeeded ? 0 : 1;
  process.stdout.write(describeSlowest(times));
  for (const file of interrupted.signal.aborted ? [] : unfinished)
    process.stdout.write(`${file} did not finish: it hung or ended its process\n`);
  if (notRun.length > 0 && !interrupted.signal.aborted)
    process.stdout.write(`${notRun.length} files did not run: their processes could not start\n`);
  process.stdout.write(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped\n`);
} finally {
  await postgres.stop();
  releasePorts();
  folder.remove();
}
