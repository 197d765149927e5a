import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { PATIENCE_MS } from '../testing/app/patience.ts';

/** The runner of `npm test`, in a process of its own: node:test does not run within itself. */
const folder = mkdtempSync(join(tmpdir(), 'portico-runner-'));
after(() => rmSync(folder, { recursive: true }));

type Counts = { passed: number; failed: number; skipped: number };

function run(...sources: readonly string[]): Counts {
  return runWith('', ...sources).counts;
}

/** `before` runs in the process of the runner. */
function runWith(before: string, ...sources: readonly string[]): { counts: Counts; notRun: number } {
  const files = sources.map((source, index) => {
    const file = join(folder, `file-${index}.test.mjs`);
    writeFileSync(file, `import { test } from 'node:test';\n${source}`);
    return file;
  });
  // A file and not `--eval`, which the worker processes would inherit.
  const script = join(folder, 'run.mjs');
  writeFileSync(
    script,
    `import { runTestFiles } from ${JSON.stringify(new URL('test-run.ts', import.meta.url).href)};
    ${before}
    const options = { concurrency: 1, signal: new AbortController().signal };
    const { counts, notRun } = await runTestFiles(${JSON.stringify(files)}, options);
    process.stderr.write('results ' + JSON.stringify({ counts, notRun: notRun.length }));`,
  );
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const { stderr } = spawnSync(process.execPath, [script], { env, encoding: 'utf8', timeout: PATIENCE_MS });
  const [, results] = /results (\{.*\})/.exec(stderr) ?? [];
  assert.ok(results, stderr);
  return JSON.parse(results);
}

test('a file that cannot be loaded counts as failed, beside files that pass and fail', () => {
  const passing = `test('passes', () => {});`;
  const failing = `test('fails', () => { throw new Error('no'); }); test('skips', { skip: true }, () => {});`;
  assert.deepEqual(run(passing, failing, `throw new Error('not loaded');`, passing), {
    passed: 2,
    failed: 2,
    skipped: 1,
  });
});

test('an error after an await or in a timer fails its test, without an async hook for promises', () => {
  const source = `import { executionAsyncId } from 'node:async_hooks';
    import { setTimeout as wait } from 'node:timers/promises';
    const fail = () => { throw new Error('no'); };
    test('promise', async () => { void wait(1).then(fail); await wait(20); });
    test('timer', async () => { setTimeout(fail, 1); await wait(20); });
    test('hook', async () => { await null; if (executionAsyncId() !== 0) fail(); });`;
  assert.deepEqual(run(source), { passed: 1, failed: 2, skipped: 0 });
});

test('processes that cannot start end the run, with their files as not run', () => {
  const passing = `test('passes', () => {});`;
  const { counts, notRun } = runWith(`process.env.NODE_OPTIONS = '--no-such-flag';`, passing, passing);
  assert.deepEqual([counts.passed, notRun], [0, 2]);
  assert.ok(counts.failed > 0);
});
