import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { StartupError } from '../runtime/startup-error.ts';
import { readConfig } from './config.ts';
import { completeSecrets } from './generated-secrets.ts';

async function createDataDir(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'portico-secrets-'));
  after(() => rm(dir, { recursive: true, force: true }));
  return dir;
}

function complete(dataDir: string, environment: Record<string, string> = {}) {
  return completeSecrets(readConfig({ PORTICO_DATA_DIR: dataDir, ...environment }), randomBytes);
}

test('secrets that are not set are generated once and reused', async () => {
  const dataDir = await createDataDir();
  const first = await complete(dataDir);
  const again = await complete(dataDir);
  assert.match(first.operatorToken.reveal(), /^portico_op_[0-9a-f]{64}$/);
  assert.match(String(first.masterKeys[0]?.reveal()), /^[0-9a-f]{64}$/);
  assert.equal(again.operatorToken.reveal(), first.operatorToken.reveal());
  assert.equal(again.masterKeys[0]?.reveal(), first.masterKeys[0]?.reveal());
  assert.ok(Object.isFrozen(first));
  const elsewhere = await complete(await createDataDir());
  assert.notEqual(elsewhere.operatorToken.reveal(), first.operatorToken.reveal());
});

test('only the owner may read the files, and no temporary file remains', async () => {
  const dataDir = await createDataDir();
  await complete(dataDir);
  assert.deepEqual((await readdir(dataDir)).sort(), ['master.key', 'operator.token']);
  for (const name of ['master.key', 'operator.token']) {
    const { mode } = await stat(join(dataDir, name));
    // Windows has no such modes.
    if (process.platform !== 'win32') assert.equal(mode & 0o777, 0o600, name);
  }
});

test('a secret that is set is used, and no file is written for it', async () => {
  const dataDir = await createDataDir();
  const { masterKeys, operatorToken } = await complete(dataDir, {
    PORTICO_MASTER_KEY: 'ab'.repeat(32),
    PORTICO_OPERATOR_TOKEN: 'o'.repeat(40),
  });
  assert.deepEqual([masterKeys[0]?.reveal(), operatorToken.reveal()], ['ab'.repeat(32), 'o'.repeat(40)]);
  assert.deepEqual(await readdir(dataDir), []);
});

test('an invalid file is rejected by name and left unchanged', async () => {
  for (const [name, content] of [
    ['master.key', 'not-a-key'],
    ['master.key', ''],
    ['operator.token', ''],
    ['operator.token', 'short'],
  ] as const) {
    const dataDir = await createDataDir();
    await writeFile(join(dataDir, name), content);
    await assert.rejects(complete(dataDir), (error: Error) => {
      assert.ok(error instanceof StartupError);
      assert.ok(error.message.includes(join(dataDir, name)), error.message);
      return content === '' || !error.message.includes(content);
    });
    assert.equal(await readFile(join(dataDir, name), 'utf8'), content);
  }
});

test('a missing master key of an existing database is reported, and no file is written', async () => {
  const dataDir = await createDataDir();
  await mkdir(join(dataDir, 'postgres'));
  await writeFile(join(dataDir, 'postgres', 'PG_VERSION'), '18\n');
  await assert.rejects(complete(dataDir), {
    name: 'StartupError',
    message:
      /^The master key of the database in .+ is missing; restore .+master\.key or set PORTICO_MASTER_KEY\.$/,
  });
  assert.deepEqual(await readdir(dataDir), ['postgres']);
});

test('a secret that cannot be written is reported by its file', async () => {
  const dataDir = join(await createDataDir(), 'missing');
  await assert.rejects(complete(dataDir), {
    name: 'StartupError',
    message: /^Cannot write .+master\.key because /,
  });
});
