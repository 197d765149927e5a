import assert from 'node:assert/strict';
import { chmod, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  cannotSwitchUser,
  isRoot,
  spawnHelper,
  temporaryDirectory,
  UNPRIVILEGED,
} from '../testing/temporary-server.ts';
import { lockDataDir } from './data-dir.ts';
import { fileProblem } from './file-problem.ts';

test('creates the directory with restricted access and leaves it empty after the release', async (t) => {
  const dataDir = join(await temporaryDirectory(t), 'deep', 'data');
  const lock = await lockDataDir(dataDir);
  assert.equal((await stat(dataDir)).mode & 0o777, isRoot ? 0o711 : 0o700);
  assert.deepEqual(await readdir(dataDir), ['portico.lock']);
  await lock.release();
  assert.deepEqual(await readdir(dataDir), []);
});

test('a second process gets the process id of the first', async (t) => {
  const dataDir = await temporaryDirectory(t);
  const first = spawnHelper(t, ['lock', dataDir]);
  assert.equal(await first.line(), 'locked');
  await assert.rejects(lockDataDir(dataDir), {
    name: 'StartupError',
    message: new RegExp(
      `^Another portico is already running on the data directory .* \\(process ${first.pid}\\)`,
    ),
  });
});

test('exactly one of many concurrent processes gets the lock, also a stale one', async (t) => {
  const dataDir = await temporaryDirectory(t);
  const dead = spawnHelper(t, ['lock', dataDir]);
  await dead.line();
  await dead.kill('SIGKILL');
  const helpers = Array.from({ length: 6 }, () => spawnHelper(t, ['lock', dataDir]));
  const lines = await Promise.all(helpers.map((helper) => helper.line()));
  assert.equal(lines.filter((line) => line === 'locked').length, 1, lines.join('\n'));
  assert.equal(lines.filter((line) => line.includes('Another portico is already running')).length, 5);
});

test('exactly one of many attempts in one process gets a stale lock', async (t) => {
  const dataDir = await temporaryDirectory(t);
  await writeFile(join(dataDir, 'portico.lock'), JSON.stringify({ pid: 2 ** 22 + 1, startedAt: 'long ago' }));
  const attempts = await Promise.allSettled(Array.from({ length: 20 }, () => lockDataDir(dataDir)));
  assert.equal(attempts.filter(({ status }) => status === 'fulfilled').length, 1);
});

test('the lock of a killed process is free', async (t) => {
  const dataDir = await temporaryDirectory(t);
  const killed = spawnHelper(t, ['lock', dataDir]);
  await killed.line();
  await killed.kill('SIGKILL');
  assert.match(await readFile(join(dataDir, 'portico.lock'), 'utf8'), new RegExp(String(killed.pid)));
  await (await lockDataDir(dataDir)).release();
});

test('a lock whose process id was reused is free', async (t) => {
  const dataDir = await temporaryDirectory(t);
  const unrelated = JSON.stringify({ pid: process.ppid, startedAt: 'another time', token: 'x' });
  await writeFile(join(dataDir, 'portico.lock'), unrelated);
  await (await lockDataDir(dataDir)).release();
});

test('a crash during the removal of a stale lock does not block later attempts', async (t) => {
  const dataDir = await temporaryDirectory(t);
  const dead = JSON.stringify({ pid: 2 ** 22 + 1, startedAt: 'long ago' });
  await writeFile(join(dataDir, 'portico.lock'), dead);
  await writeFile(join(dataDir, 'portico.lock.stale'), dead);
  await (await lockDataDir(dataDir)).release();
  assert.deepEqual(await readdir(dataDir), []);
});

test('a release leaves the lock of another process and is idempotent', async (t) => {
  const dataDir = await temporaryDirectory(t);
  const first = await lockDataDir(dataDir);
  await first.release();
  await first.release();
  const second = await lockDataDir(dataDir);
  await first.release();
  await assert.rejects(lockDataDir(dataDir), /already running/);
  await second.release();
});

test('a file, and a path below a file, are reported in one sentence', async (t) => {
  const file = join(await temporaryDirectory(t), 'file');
  await writeFile(file, '');
  await assert.rejects(lockDataDir(join(file, 'data')), {
    name: 'StartupError',
    message: /is a file, not a directory; .*PORTICO_DATA_DIR/,
  });
  await assert.rejects(lockDataDir(file), /that path is a file, not a directory/);
});

test('a directory that cannot be created is reported in one sentence', {
  skip: process.platform !== 'linux' && 'only Linux has /proc',
}, async () => {
  for (const dataDir of ['/proc/portico', '/proc/portico/data'])
    await assert.rejects(lockDataDir(dataDir), {
      name: 'StartupError',
      message: `Cannot use the data directory ${dataDir} because that path does not exist and cannot be created; correct that or set PORTICO_DATA_DIR to another directory.`,
    });
});

test('a file system without hard links is reported as such', () => {
  const refused = Object.assign(new Error('EPERM: operation not permitted, link'), {
    code: 'EPERM',
    syscall: 'link',
  });
  const { message } = fileProblem('lock the data directory with', '/mnt/data/portico.lock', refused);
  assert.match(message, /because the file system has no hard links; /);
});

// Permissions do not restrict root, so the helper runs as another user.
test('a directory without write permission is reported in one sentence', {
  skip: isRoot && cannotSwitchUser(),
}, async (t) => {
  const dataDir = join(await temporaryDirectory(t), 'closed');
  await mkdir(dataDir);
  await chmod(dataDir, 0o555);
  const helper = spawnHelper(t, ['lock', dataDir], isRoot ? UNPRIVILEGED : {});
  assert.match(
    await helper.line(),
    /^StartupError: Cannot use .*this user cannot write there; .*PORTICO_DATA_DIR/,
  );
});
