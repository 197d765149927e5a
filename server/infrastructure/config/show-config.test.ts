import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { settings } from './settings.ts';

const MAIN = fileURLToPath(new URL('../../main.ts', import.meta.url));

function portico(env: Record<string, string>) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [MAIN, 'config'], { env, encoding: 'utf8' });
  return { status, stdout, stderr };
}

const SECRETS = {
  PORTICO_DATABASE_URL: 'postgresql://portico:pa55-of-the-database@db.internal/portico',
  PORTICO_MASTER_KEY: `${'c4'.repeat(32)},${'d5'.repeat(32)}`,
  PORTICO_OPERATOR_TOKEN: 'token-of-the-operator-which-is-long',
  PORTICO_S3_ENDPOINT: 'https://s3.example.com',
  PORTICO_S3_BUCKET: 'files',
  PORTICO_S3_ACCESS_KEY_ID: 'AKIA',
  PORTICO_S3_SECRET_ACCESS_KEY: 'key-of-the-store',
};

test('portico config prints every setting with its value, and no secret', () => {
  const { status, stdout, stderr } = portico({ ...SECRETS, PORTICO_PORT: '4321' });
  assert.deepEqual([status, stderr], [0, '']);
  for (const { variable, about } of Object.values(settings)) {
    const line = stdout.split('\n').find((candidate) => candidate.startsWith(`${variable}=`));
    assert.ok(line?.endsWith(`# ${about}`), variable);
  }
  assert.match(stdout, /^PORTICO_PORT=4321 /m);
  assert.match(stdout, /^PORTICO_MASTER_KEY=\[secret\],\[secret\] /m);
  assert.doesNotMatch(stdout, /pa55|c4c4|d5d5|token-of|key-of/);
});

test('an invalid setting exits with 1 and prints the problems without a stack or a secret', () => {
  const { status, stdout, stderr } = portico({ ...SECRETS, PORTICO_PORT: 'x', PORTICO_DEMO: 'y' });
  assert.deepEqual([status, stdout], [1, '']);
  assert.match(stderr, /PORTICO_PORT must/);
  assert.match(stderr, /PORTICO_DEMO must/);
  assert.doesNotMatch(stderr, /\.ts| {4}at |pa55|c4c4|d5d5|token-of|key-of/);
});
