import assert from 'node:assert/strict';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { eventually, temporaryDirectory } from '../testing/temporary-server.ts';
import { lastComplaint, openServerLog } from './server-log.ts';

test('keeps the log of the previous run and truncates the current one when it is too long', async (t) => {
  const path = join(await temporaryDirectory(t), 'postgres.log');
  await writeFile(path, 'of the run before');
  const log = await openServerLog(path, { maxBytes: 100, checkEveryMs: 5 });
  t.after(() => log.close());
  assert.equal(await readFile(`${path}.1`, 'utf8'), 'of the run before');
  await writeFile(path, 'x'.repeat(200), { flag: 'a' });
  await eventually(async () => (await stat(path)).size === 0);
  assert.equal((await stat(`${path}.1`)).size, 200);
  assert.equal(await log.written(), '');
});

test('returns what was written since the mark', async (t) => {
  const path = join(await temporaryDirectory(t), 'postgres.log');
  const log = await openServerLog(path);
  t.after(() => log.close());
  await writeFile(path, 'before ', { flag: 'a' });
  await log.mark();
  await writeFile(path, 'after', { flag: 'a' });
  assert.equal(await log.written(), 'after');
});

test('finds the last error', () => {
  const log =
    '12:00 UTC [1] FATAL:  first\n12:00 UTC [1] LOG:  noise\n12:00 UTC [1] FATAL:  second\n12:00 LOG:  end\n';
  assert.equal(lastComplaint(log), 'second');
  assert.equal(lastComplaint('12:00 LOG:  all is well\n'), undefined);
});
