import assert from 'node:assert/strict';
import { once } from 'node:events';
import { chmod, readdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { BOUNDED, createSite, type Exit, type Site, waitFor } from '../../testing/serve.ts';
import {
  cannotSwitchUser,
  isRoot,
  UNPRIVILEGED,
} from '../infrastructure/database/embedded/testing/temporary-server.ts';

/** One sentence on standard error, exit code 1, and nothing left running. */
async function assertRefused(site: Site, { code, out, err }: Exit, sentence: RegExp): Promise<void> {
  assert.deepEqual([code, out], [1, '']);
  assert.match(err, /^portico: [A-Z][^\n]+\.\n$/);
  assert.match(err, sentence);
  assert.doesNotMatch(err, /\n {4}at |Error:/);
  assert.deepEqual(await site.databaseProcesses(), []);
}

test('a port in use is told, and the demo is kept for the start that can show it', BOUNDED, async (t) => {
  const site = await createSite(t);
  const other = createServer().listen(site.port, '127.0.0.1');
  t.after(() => other.close());
  await once(other, 'listening');
  const sentence = new RegExp(`^portico: Port ${site.port} is in use; .*PORTICO_PORT\\.`);
  await assertRefused(site, await site.run(['serve']), sentence);

  other.close();
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
  assert.equal((await site.operate('GET', '/organizations')).status, 200, 'the first goes on');
  running.kill('SIGTERM');
  assert.equal((await running.exited).code, 0);
});

test('a data folder that is a file, or below one, is told', BOUNDED, async (t) => {
  const site = await createSite(t);
  const file = join(site.root, 'file');
  await writeFile(file, '');
  for (const path of [file, join(file, 'data')])
    await assertRefused(
      site,
      await site.run(['serve'], { PORTICO_DATA_DIR: path }),
      /Cannot use the data directory .*file.* because .* is a file, not a directory; .*PORTICO_DATA_DIR/,
    );
});

test('a data folder that may not be written is told', {
  ...BOUNDED,
  skip: isRoot && cannotSwitchUser(),
}, async (t) => {
  const site = await createSite(t);
  if (!isRoot) await chmod(site.root, 0o500);
  const refused = await site.run(['serve'], {}, isRoot ? UNPRIVILEGED : undefined);
  await chmod(site.root, 0o711);
  await assertRefused(site, refused, /Cannot use the data directory .* this user cannot write there; /);
});

test(
  'a bad setting is told in a sentence, several in a list, before anything is touched',
  BOUNDED,
  async (t) => {
    const site = await createSite(t);
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

test('an unknown command, and one that needs a shared database, are told', BOUNDED, async (t) => {
  const site = await createSite(t);
  for (const name of ['sreve', 'constructor'])
    await assertRefused(
      site,
      await site.run([name]),
      new RegExp(`There is no command ${name}; portico --help `),
    );
  for (const name of ['api', 'dispatch'])
    await assertRefused(site, await site.run([name]), /PORTICO_DATABASE_URL, or run portico serve/);
  assert.deepEqual(await readdir(site.root), []);
});
