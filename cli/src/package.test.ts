import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { VERSION } from '../../sdk/src/version.ts';
import { runCommand } from '../../server/infrastructure/runtime/run-command.ts';
import { PATIENCE_MS } from '../../testing/app/patience.ts';

const ROOT = join(import.meta.dirname, '..', '..');

test('the package has the version of the SDK, runs without dependencies and reports misuse', async () => {
  const { version, dependencies } = JSON.parse(await readFile(join(ROOT, 'cli', 'package.json'), 'utf8'));
  assert.deepEqual([version, dependencies], [VERSION, undefined]);
  const run = (...[program, ...args]: [string, ...string[]]) =>
    runCommand(program, args, { timeoutMs: PATIENCE_MS });
  const built = await run(process.execPath, join(ROOT, 'scripts', 'cli', 'build-cli.ts'));
  assert.equal(built.exitCode, 0, built.stderr);
  // Also on the Node.js of this machine, which may be as old as 20.
  for (const node of [process.execPath, 'node']) {
    const help = await run(node, join(ROOT, 'cli', 'dist', 'portico.js'), '--help');
    assert.equal(help.exitCode, 0, help.stderr);
    assert.match(help.stdout, /^Usage: portico <command>/);
  }
});
