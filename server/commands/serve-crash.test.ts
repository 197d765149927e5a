import assert from 'node:assert/strict';
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { BOUNDED, createSite, waitFor } from '../../testing/app/serve.ts';
import { postmasterPid } from '../infrastructure/database/embedded/testing/temporary-server.ts';

const WRITERS = 8;
/** Killed when so many writes are acknowledged, while more are being written. */
const ENOUGH = 150;

/** One data directory for all tests: each starts with the service that the test before has restarted. */
const site = await createSite({ after });
const acknowledged = new Set<string>();
let running = await site.serve();

/** Writes until the service is gone, and notes the acknowledged writes. */
async function writeUntilGone(): Promise<void> {
  for (;;) {
    const answer = await site.operate('POST', '/organizations', { name: 'Written' }).catch(() => undefined);
    if (!answer) return;
    // A database that stops first causes error responses, which acknowledge nothing.
    if (answer.status !== 201) continue;
    acknowledged.add(String(answer.body.guid));
  }
}

async function walk(): Promise<{ guid: string; name: string }[]> {
  const found: { guid: string; name: string }[] = [];
  for (let after = ''; ; ) {
    const { status, body } = await site.operate('GET', `/organizations?per_page=100${after}`);
    assert.equal(status, 200, JSON.stringify(body));
    found.push(...(body.objects as typeof found));
    if (body.next === undefined) return found;
    after = `&after=${body.next}`;
  }
}

for (const victims of ['the service', 'the service and PostgreSQL'] as const)
  test(`kill -9 of ${victims} during writes loses no acknowledged write`, BOUNDED, async () => {
    const postmaster = await postmasterPid(site.dataDir);
    const before = (await walk()).length;
    const acknowledgedBefore = acknowledged.size;
    const writers = Array.from({ length: WRITERS }, writeUntilGone);
    await waitFor('writes', running, () => acknowledged.size >= acknowledgedBefore + ENOUGH);
    if (victims !== 'the service') process.kill(postmaster, 'SIGKILL');
    running.kill('SIGKILL');
    assert.equal((await running.exited).signal, 'SIGKILL');
    await Promise.all(writers);

    running = await site.serve();
    assert.notEqual(await postmasterPid(site.dataDir), postmaster);
    const found = await walk();
    const guids = new Set(found.map(({ guid }) => guid));
    assert.equal(guids.size, found.length, 'the pages show nothing twice');
    assert.deepEqual([...acknowledged.difference(guids)], [], 'acknowledged and lost');
    assert.equal(found.filter(({ name }) => name === 'Demo Organization').length, 1);
    assert.ok(
      found.length <= before + acknowledged.size - acknowledgedBefore + WRITERS,
      'at most the last of each writer is unconfirmed',
    );
  });

test('a lost or wrong master key fails the start, not the first token', BOUNDED, async () => {
  running.kill('SIGTERM');
  assert.equal((await running.exited).code, 0);
  assert.deepEqual(await site.databaseProcesses(), []);
  const key = join(site.dataDir, 'master.key');
  await rename(key, `${key}.lost`);
  const lost = await site.run(['serve']);
  assert.equal(lost.code, 1);
  assert.match(
    lost.err,
    /^portico: The master key of the database in .* is missing; restore .*master\.key .*\n$/,
  );
  await writeFile(key, 'ab'.repeat(32));
  const wrong = await site.run(['serve']);
  await rename(`${key}.lost`, key);
  assert.equal(wrong.code, 1);
  assert.match(wrong.err, /^portico: Stored secrets cannot be decrypted \(.*\); restore master\.key .*\n$/);
  assert.deepEqual(await site.databaseProcesses(), []);
});

test('when PostgreSQL stops by itself, the service prints one line and exits with 1', BOUNDED, async () => {
  running = await site.serve();
  process.kill(await postmasterPid(site.dataDir), 'SIGKILL');
  const { code, err } = await running.exited;
  assert.equal(code, 1);
  assert.match(err, /^portico: The embedded PostgreSQL has stopped; see .*postgres\.log\.$/m);
});
