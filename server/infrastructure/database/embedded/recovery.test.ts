import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chown, copyFile, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import pg from 'pg';
import { processStartTime } from './server/process-identity.ts';
import {
  eventually,
  postmasterPid,
  query,
  spawnHelper,
  start,
  temporaryDirectory,
} from './testing/temporary-server.ts';

const isGone = async (pid: number) => (await processStartTime(pid)) === undefined;

test('a PostgreSQL that outlived portico is replaced and keeps its data', async (t) => {
  const dataDir = await temporaryDirectory(t);
  const helper = spawnHelper(t, ['start', dataDir]);
  const url = await helper.line();
  await query(url, 'create table kept as select 42 as answer');
  await helper.kill('SIGKILL');
  const orphan = await postmasterPid(dataDir);
  assert.deepEqual(await query(url, 'select answer from kept'), [42], 'PostgreSQL survives its parent');

  const server = await start(t, dataDir, { settings: { fsync: 'off', work_mem: '7MB' } });
  assert.ok(await isGone(orphan));
  assert.deepEqual(await query(server.ownerUrl, 'select answer, current_setting($$work_mem$$) from kept'), [
    42,
    '7MB',
  ]);
});

test('Ctrl-C at the terminal does not reach PostgreSQL', async (t) => {
  const dataDir = await temporaryDirectory(t);
  await start(t, dataDir);
  const pid = await postmasterPid(dataDir);
  if (process.platform !== 'linux') return;
  const statOf = async (id: number | 'self') =>
    (await readFile(`/proc/${id}/stat`, 'utf8')).split(') ')[1]?.split(' ');
  const [, , group, session] = (await statOf(pid)) ?? [];
  assert.deepEqual([group, session], [String(pid), String(pid)]);
});

test('after a crash of PostgreSQL with a busy session, it recovers', async (t) => {
  const dataDir = await temporaryDirectory(t);
  const killed = await start(t, dataDir);
  await query(killed.ownerUrl, 'create table kept as select 42 as answer');
  const client = new pg.Client({ connectionString: killed.ownerUrl });
  client.on('error', () => undefined);
  await client.connect();
  // A busy session does not notice the end of its server at once, and holds its shared memory until then.
  const busy = client.query('select count(*) from generate_series(1, 20000000)').catch(() => undefined);
  await eventually(async () => (await query(killed.ownerUrl, activeSessions)).length === 1);
  const pid = await postmasterPid(dataDir);
  process.kill(pid, 'SIGKILL');

  const server = await start(t, dataDir);
  assert.deepEqual(await query(server.ownerUrl, 'select answer from kept'), [42]);
  await busy;
  await client.end().catch(() => undefined);
  await killed.stop();
  assert.deepEqual(
    await query(server.ownerUrl, 'select 1'),
    [1],
    'stopping the dead server leaves the new one running',
  );
});

test('a postmaster.pid of a dead or an unrelated process does not block the start', async (t) => {
  const dataDir = await temporaryDirectory(t);
  const first = await start(t, dataDir);
  const pidFile = join(dataDir, 'postgres', 'postmaster.pid');
  const content = await readFile(pidFile, 'utf8');
  const { uid, gid } = await stat(join(dataDir, 'postgres'));
  await first.stop();

  // Of the same user as PostgreSQL: only such a process makes PostgreSQL refuse to start.
  const unrelated = spawn('sleep', ['60'], { uid, gid, stdio: 'ignore' });
  const ended = once(unrelated, 'exit');
  t.after(() => unrelated.kill('SIGKILL'));
  for (const pid of [2 ** 22 + 1, unrelated.pid]) {
    await writeFile(pidFile, content.replace(/^\d+/, String(pid)));
    await chown(pidFile, uid, gid);
    await (await start(t, dataDir)).stop();
  }
  await writeFile(pidFile, '');
  await (await start(t, dataDir)).stop();
  assert.equal(unrelated.exitCode ?? unrelated.signalCode, null, 'the unrelated process still runs');
  unrelated.kill();
  await ended;
});

test('a copied data directory does not stop the server of the original', async (t) => {
  const dataDir = await temporaryDirectory(t);
  const copy = await temporaryDirectory(t);
  const original = await start(t, dataDir);
  await (await start(t, copy)).stop();
  await copyFile(join(dataDir, 'postgres', 'postmaster.pid'), join(copy, 'postgres', 'postmaster.pid'));
  const second = await start(t, copy);
  assert.deepEqual(await query(original.ownerUrl, 'select 1'), [1]);
  assert.deepEqual(await query(second.ownerUrl, 'select 2'), [2]);
});

const activeSessions = `select pid from pg_stat_activity where query like '%generate_series%' and state = 'active' and pid <> pg_backend_pid()`;
