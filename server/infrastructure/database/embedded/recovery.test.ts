import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chown, copyFile, cp, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import pg from 'pg';
import { processStartTime } from './server/process-identity.ts';
import {
  eventually,
  postmasterPid,
  query,
  sharedDirectory,
  spawnHelper,
  start,
  temporaryDirectory,
} from './testing/temporary-server.ts';

const dataDir = await sharedDirectory();

const isGone = async (pid: number) => (await processStartTime(pid)) === undefined;

test('a PostgreSQL that outlived portico is replaced and keeps its data', async (t) => {
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
  await start(t, dataDir);
  const pid = await postmasterPid(dataDir);
  if (process.platform !== 'linux') return;
  const statOf = async (id: number | 'self') =>
    (await readFile(`/proc/${id}/stat`, 'utf8')).split(') ')[1]?.split(' ');
  const [, , group, session] = (await statOf(pid)) ?? [];
  assert.deepEqual([group, session], [String(pid), String(pid)]);
});

test('after a crash of PostgreSQL with a session that outlives it, it recovers', async (t) => {
  const killed = await start(t, dataDir);
  await query(killed.ownerUrl, 'create table recovered as select 42 as answer');
  const client = new pg.Client({ connectionString: killed.ownerUrl });
  client.on('error', () => undefined);
  await client.connect();
  // A busy session does not notice the end of its server at once, and holds its shared memory until then.
  const { rows } = await client.query('select pg_backend_pid() as session');
  const { session } = rows[0] as { session: number };
  process.kill(session, 'SIGSTOP');
  t.after(async () => (await isGone(session)) || process.kill(session, 'SIGKILL'));
  process.kill(await postmasterPid(dataDir), 'SIGKILL');

  const starting = start(t, dataDir);
  const log = join(dataDir, 'postgres.log');
  // The start replaces the log, so for a moment there is none.
  const logged = () => readFile(log, 'utf8').catch(() => '');
  await eventually(async () => (await logged()).includes('pre-existing shared memory block'));
  process.kill(session, 'SIGCONT');
  const server = await starting;
  assert.deepEqual(await query(server.ownerUrl, 'select answer from recovered'), [42]);
  await client.end().catch(() => undefined);
  await killed.stop();
  assert.deepEqual(
    await query(server.ownerUrl, 'select 1'),
    [1],
    'stopping the dead server leaves the new one running',
  );
});

test('a postmaster.pid of a dead or an unrelated process does not block the start', async (t) => {
  const first = await start(t, dataDir);
  const pidFile = join(dataDir, 'postgres', 'postmaster.pid');
  const content = await readFile(pidFile, 'utf8');
  const { uid, gid } = await stat(join(dataDir, 'postgres'));
  await first.stop();

  // Of the same user as PostgreSQL: only such a process makes PostgreSQL refuse to start.
  const unrelated = spawn('sleep', ['300'], { uid, gid, stdio: 'ignore' });
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
  const copy = await temporaryDirectory(t);
  await cp(dataDir, copy, { recursive: true });
  const original = await start(t, dataDir);
  await copyFile(join(dataDir, 'postgres', 'postmaster.pid'), join(copy, 'postgres', 'postmaster.pid'));
  const second = await start(t, copy);
  assert.deepEqual(await query(original.ownerUrl, 'select 1'), [1]);
  assert.deepEqual(await query(second.ownerUrl, 'select 2'), [2]);
});
