import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { type TestContext, test } from 'node:test';
import { type Environment, readConfig } from '../infrastructure/config/config.ts';
import { completeSecrets } from '../infrastructure/config/generated-secrets.ts';
import { writeWelcome } from './welcome.ts';

const GUID = '019aa000-0000-7000-8000-000000000000';

async function welcomeOf(environment: Environment): Promise<string> {
  const config = await completeSecrets(readConfig(environment), randomBytes);
  const stream = new PassThrough({ encoding: 'utf8' });
  const at = new Date(0);
  const founder = { guid: GUID, email: 'founder@demo.example', name: null, created_at: at, updated_at: at };
  writeWelcome(stream as unknown as NodeJS.WriteStream, config, { demo: undefined, founder });
  return String(stream.read());
}

async function createFolder(t: TestContext, prefix: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), prefix));
  t.after(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

test('the commands name the data directory with the token, quoted for a shell', async (t) => {
  const plain = await createFolder(t, 'portico-welcome-');
  const shown = await welcomeOf({ PORTICO_DATA_DIR: plain, PORTICO_PORT: '4100' });
  const settings = `PORTICO_PORT=4100 PORTICO_DATA_DIR=${plain}`;
  assert.ok(shown.includes(`${settings} npx portico operator --help`), shown);
  assert.ok(shown.includes(`${settings} npx portico operator members password-reset ${GUID}`), shown);

  const odd = await createFolder(t, "it's odd ");
  const quoted = `'${odd.replace("'", "'\\''")}'`;
  assert.ok((await welcomeOf({ PORTICO_DATA_DIR: odd })).includes(`PORTICO_DATA_DIR=${quoted} npx portico`));
});

test('a data directory without the token, or with an earlier one, is not named', async (t) => {
  const directory = { PORTICO_DATA_DIR: await createFolder(t, 'portico-welcome-') };
  const chosen = { ...directory, PORTICO_OPERATOR_TOKEN: 'a-token-that-the-operator-has-chosen' };
  assert.doesNotMatch(await welcomeOf(chosen), /PORTICO_DATA_DIR=|operator\.token/);
  assert.match(await welcomeOf(directory), /token in .*operator\.token/);
  assert.doesNotMatch(await welcomeOf(chosen), /PORTICO_DATA_DIR=|operator\.token/);
});
