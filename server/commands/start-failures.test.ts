import assert from 'node:assert/strict';
import { once } from 'node:events';
import { chmod, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { BOUNDED, createSite, type Exit, waitFor } from '../../testing/app/serve.ts';
import {
  cannotSwitchUser,
  isRoot,
  UNPRIVILEGED,
} from '../infrastructure/database/embedded/testing/temporary-server.ts';

const site = await createSite({ after });

/** One sentence on standard error, the exit code, and no process left. */
async function assertRefused({ code, out, err }: Exit, sentence: RegExp, exitCode = 1): Promise<void> {
  assert.deepEqual([code, out], [exitCode, '']);
  assert.match(err, /^portico: [A-Z][^\n]+\.\n$/);
  assert.match(err, sentence);
  assert.doesNotMatch(err, /\n {4}at |Error:/);
  assert.deepEqual(await site.databaseProcesses(), []);
}

test('a data directory that is a file, or inside one, is reported', BOUNDED, async (t) => {
  const file = join(site.root, 'file');
  await writeFile(file, '');
  t.after(() => rm(file));
  const sentence =
    /Cannot use the data directory .*file.* because .* is a file, not a directory; .*PORTICO_DATA_DIR/;
  await assertRefused(await site.run(['serve'], { PORTICO_DATA_DIR: file }), sentence);
  assert.match(await site.refusal('serve', { PORTICO_DATA_DIR: join(file, 'data') }), sentence);
});

test('a data directory that is not writable is reported', {
  ...BOUNDED,
  skip: isRoot && cannotSwitchUser(),
}, async () => {
  if (!isRoot) await chmod(site.root, 0o500);
  const refused = await site.run(['serve'], {}, isRoot ? UNPRIVILEGED : undefined);
  await chmod(site.root, 0o711);
  await assertRefused(refused, /Cannot use the data directory .* this user cannot write there; /);
});

test(
  'invalid settings are reported in a sentence or a list before anything is changed',
  BOUNDED,
  async () => {
    const one = await site.run(['serve'], { PORTICO_PORT: 'http' });
    const sentence = 'Invalid settings: PORTICO_PORT must be a whole number from 0 to 65535.';
    assert.deepEqual(one, { code: 1, signal: null, out: '', err: `portico: ${sentence}\n` });

    const secret = 'too-short-to-be-a-token';
    const several = await site.run(['serve'], {
      PORTICO_PORT: '65536',
      PORTICO_DEMO: 'perhaps',
      PORTICO_OPERATOR_TOKEN: secret,
      PORTICO_PROT: '4000',
      PORTICO_S3_ENDPOINT: 'https://store.example',
      PORTICO_S3_BUCKET: 'files',
    });
    assert.deepEqual([several.code, several.out], [1, '']);
    const [first, ...listed] = several.err.trimEnd().split('\n');
    assert.equal(first, 'portico: Invalid settings:');
    assert.deepEqual(
      listed.map((line) => /^ {2}- (\w+) \w/.exec(line)?.[1]),
      [
        'PORTICO_PORT',
        'PORTICO_OPERATOR_TOKEN',
        'PORTICO_DEMO',
        'PORTICO_PROT',
        'PORTICO_S3_ACCESS_KEY_ID',
        'PORTICO_S3_SECRET_ACCESS_KEY',
      ],
    );
    assert.ok(!several.err.includes(secret));
    assert.deepEqual(await readdir(site.root), []);
  },
);

test(
  'an unknown command and unexpected arguments exit with 2, as documented for partners',
  BOUNDED,
  async () => {
    for (const name of ['sreve', 'constructor'])
      await assertRefused(
        await site.run([name]),
        new RegExp(`There is no command ${name}\\. Run portico --help `),
        2,
      );
    await assertRefused(await site.run(['lisen']), /Did you mean listen\?/, 2);
    for (const args of [
      ['serve', '--port=80'],
      ['migrate', '--dry-run'],
    ])
      await assertRefused(
        await site.run(args),
        new RegExp(`The command ${args[0]} takes no arguments; settings `),
        2,
      );
    assert.deepEqual(await readdir(site.root), []);
  },
);

test('a command that needs a shared database is reported', BOUNDED, async () => {
  for (const name of ['api', 'dispatch'] as const)
    assert.match(await site.refusal(name, {}), /PORTICO_DATABASE_URL, or run portico serve/);
  assert.deepEqual(await readdir(site.root), []);
});

test('a port in use is reported', BOUNDED, async (t) => {
  const other = createServer().listen(site.port, '127.0.0.1');
  t.after(() => other.close());
  await once(other, 'listening');
  const sentence = new RegExp(`^portico: Port ${site.port} is in use; .*PORTICO_PORT\\.`);
  await assertRefused(await site.run(['serve']), sentence);
});

test('the demo is created by a later start, and a second process is refused', BOUNDED, async () => {
  const running = await site.serve();
  await waitFor('the demo', running, () => running.out().includes('client_secret'));

  const second = await site.run(['serve']);
  assert.deepEqual([second.code, second.out], [1, '']);
  assert.match(
    second.err,
    new RegExp(
      `^portico: Another portico is already running on .*\\(process ${running.pid}\\); stop it .*\\.\n$`,
    ),
  );
  assert.equal((await site.operate('GET', '/organizations')).status, 200, 'the first process continues');
  running.kill('SIGTERM');
  assert.equal((await running.exited).code, 0);
});
