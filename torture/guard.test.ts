import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';

const POLL_EVERY_MS = 20;
const GUARDING = import.meta.resolve('./guarding.ts');

function startIdleProcess() {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1_000)'], { stdio: 'ignore' });
  after(() => void child.kill('SIGKILL'));
  return { pid: child.pid as number, ended: once(child, 'exit') };
}

test('a run that is killed leaves no process and no folder behind', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'portico-torture-'));
  const dataDir = join(folder, 'disk', 'data');
  mkdirSync(join(dataDir, 'postgres'), { recursive: true });
  const [portico, finished, postgres] = [startIdleProcess(), startIdleProcess(), startIdleProcess()];
  writeFileSync(join(dataDir, 'postgres', 'postmaster.pid'), `${postgres.pid}\n${dataDir}\n`);
  const script = join(folder, 'run.mjs');
  const source = `
    import { startGuard } from ${JSON.stringify(GUARDING)};
    const guard = startGuard(${JSON.stringify({ folder, dataDir })});
    guard.started(${portico.pid});
    guard.started(${finished.pid});
    guard.ended(${finished.pid});
    process.stdout.write('started');
    setInterval(() => {}, 1_000);`;
  writeFileSync(script, source);
  const run = spawn(process.execPath, [script], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(run.stdout, 'data');
  run.kill('SIGKILL');
  const [[, signal], [, ended]] = await Promise.all([portico.ended, postgres.ended]);
  assert.deepEqual([signal, ended], ['SIGKILL', 'SIGQUIT']);
  while (existsSync(folder)) await delay(POLL_EVERY_MS);
  process.kill(finished.pid, 0);
});
