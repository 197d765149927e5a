import assert from 'node:assert/strict';
import { cp, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { findServicePort } from '../../../../testing/app/serve.ts';
import { findBinaries } from './cluster/binaries.ts';
import { findFreePort, startEmbeddedPostgres } from './embedded-postgres.ts';
import { superuserUrlOf } from './testing/superuser-url.ts';
import {
  eventually,
  FAST,
  query,
  sharedDirectory,
  start,
  temporaryDirectory,
} from './testing/temporary-server.ts';

const dataDir = join(await sharedDirectory(), 'data');
const PASSWORDS = ['postgres.owner.password', 'postgres.password', 'postgres.service.password'];

test('starts on an empty directory, keeps data and settings, and listens on loopback only', async (t) => {
  const settings = { ...FAST, listen_addresses: '*', work_mem: '5MB' };
  // A port that no other process gets after the stop.
  const first = await start(t, dataDir, { settings, choosePort: findServicePort });
  assert.match(first.ownerUrl, /^postgresql:\/\/portico_owner:[\w-]{43}@127\.0\.0\.1:\d+\/portico$/);
  const shown = [
    'server_encoding',
    'data_checksums',
    'timezone',
    'listen_addresses',
    'unix_socket_directories',
  ];
  const superuserUrl = await superuserUrlOf(dataDir, first);
  const values = await Promise.all([...shown, 'work_mem'].map((name) => query(superuserUrl, `show ${name}`)));
  assert.deepEqual(values.flat(), ['UTF8', 'on', 'UTC', '127.0.0.1', '', '5MB']);
  assert.deepEqual(await query(first.ownerUrl, `select upper('é'), 'Z' < 'a'`), ['É', true]);
  for (const name of PASSWORDS) assert.equal((await stat(join(dataDir, name))).mode & 0o777, 0o600, name);
  await query(first.ownerUrl, 'create table kept as select 42 as answer');
  await Promise.all([first.stop(), first.stop()]);
  await assert.rejects(query(first.ownerUrl, 'select 1'), { code: 'ECONNREFUSED' });

  const second = await start(t, dataDir);
  assert.deepEqual(await query(second.ownerUrl, 'select answer from kept'), [42]);
  assert.equal(new URL(second.ownerUrl).password, new URL(first.ownerUrl).password);
  await assert.rejects(query(second.ownerUrl.replace(/:[\w-]+@/, ':wrong@'), 'select 1'), { code: '28P01' });
  await second.stop();
  const left = (await readdir(dataDir)).sort();
  assert.deepEqual(left, ['postgres', 'postgres.log', 'postgres.log.1', ...PASSWORDS]);
});

test('an incomplete cluster is discarded', async (t) => {
  const broken = await temporaryDirectory(t);
  await mkdir(join(broken, 'postgres.init-broken', 'cluster', 'base'), { recursive: true });
  await mkdir(join(broken, 'postgres'));
  const server = await start(t, broken);
  assert.deepEqual(await query(server.ownerUrl, 'select 1'), [1]);
  assert.equal(
    (await readdir(broken)).some((name) => name.startsWith('postgres.init-')),
    false,
  );
});

test('an aborted start ends the creation of the cluster and leaves nothing of it', async (t) => {
  const directory = await temporaryDirectory(t);
  const stop = new AbortController();
  const isCreating = async () => (await readdir(directory)).some((name) => name.startsWith('postgres.init-'));
  const starting = startEmbeddedPostgres({ dataDir: directory, settings: FAST, signal: stop.signal });
  const aborted = assert.rejects(starting);
  await eventually(isCreating);
  stop.abort();
  await aborted;
  assert.deepEqual((await readdir(directory)).sort(), PASSWORDS);
});

test('an aborted start stops a server that is not ready, and the next start can use it', async (t) => {
  const cluster = join(dataDir, 'postgres');
  // A standby without connections never becomes ready, like a long recovery.
  await writeFile(join(cluster, 'standby.signal'), '');
  const settings = { ...FAST, hot_standby: 'off' };
  const stop = new AbortController();
  const starting = startEmbeddedPostgres({ dataDir, settings, signal: stop.signal });
  const aborted = assert.rejects(starting, (error) => error === stop.signal.reason);
  await eventually(async () => (await readdir(cluster)).includes('postmaster.pid'));
  stop.abort();
  await aborted;
  const left = await readdir(cluster);
  assert.equal(left.includes('postmaster.pid'), false);

  await rm(join(cluster, 'standby.signal'));
  const server = await start(t, dataDir);
  assert.deepEqual(await query(server.ownerUrl, 'select answer from kept'), [42]);
  await server.stop();
});

test('uses another port when the chosen one was taken', async (t) => {
  // An open connection of the check for readiness would keep the process of the tests alive.
  const taken = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1');
  t.after(() => taken.close());
  const { port } = await new Promise<{ port: number }>((resolve) =>
    taken.once('listening', () => resolve(taken.address() as { port: number })),
  );
  const ports = [port, port];
  const choosePort = async () => ports.pop() ?? (await findFreePort());
  const server = await start(t, dataDir, { choosePort });
  assert.notEqual(new URL(server.ownerUrl).port, String(port));
  assert.equal(ports.length, 0);
});

function rejects(message: RegExp, { directory = dataDir, settings = {} } = {}): Promise<void> {
  const starting = startEmbeddedPostgres({ dataDir: directory, settings: { ...FAST, ...settings } });
  return assert.rejects(starting, { name: 'StartupError', message });
}

test('a data directory that cannot be used is reported in one sentence', async (t) => {
  const directory = await temporaryDirectory(t);
  const file = join(directory, 'file');
  await writeFile(file, '');
  await rejects(/is a file/, { directory: file });
  await writeFile(join(directory, 'postgres'), '');
  await rejects(/prepare|read the database .* is a file/, { directory });
  await rm(join(directory, 'postgres'));
  await mkdir(join(directory, 'postgres', 'photos'), { recursive: true });
  await rejects(/exists but is not a PostgreSQL database; move it away/, { directory });
});

// Last, because it makes the shared cluster unusable.
test('startup problems are reported in one sentence', async () => {
  await rejects(/did not start \(.*"max_connections".*\)/, { settings: { max_connections: 'many' } });

  const passwordFile = join(dataDir, 'postgres.password');
  await cp(passwordFile, `${passwordFile}.kept`);
  await writeFile(passwordFile, 'another\n');
  await rejects(/rejects the password in postgres\.password/);
  await rm(passwordFile);
  await rejects(/database password is missing; restore/);
  await cp(`${passwordFile}.kept`, passwordFile);

  const versionFile = join(dataDir, 'postgres', 'PG_VERSION');
  await writeFile(versionFile, '12\n');
  await rejects(
    /was created by PostgreSQL 12 and this portico includes \d+; start the portico version that created it/,
  );
  await rm(versionFile);
  await rejects(/exists but is not a PostgreSQL database/);
  assert.match(await readFile(join(dataDir, 'postgres.log.1'), 'utf8'), /FATAL/);
});

test('an unsupported platform is reported with a solution', async () => {
  await assert.rejects(findBinaries('plan9-mips'), {
    name: 'StartupError',
    message:
      'No embedded PostgreSQL exists for plan9-mips; set PORTICO_DATABASE_URL to an existing PostgreSQL.',
  });
});
