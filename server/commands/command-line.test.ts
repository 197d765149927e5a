import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { test } from 'node:test';
import { BOUNDED, createSite } from '../../testing/app/serve.ts';
import { settings } from '../infrastructure/config/settings.ts';

const ENDED_WELL = { code: 0, signal: null, err: '' };

test('the help lists every command, by each way to call it', BOUNDED, async (t) => {
  const site = await createSite(t);
  const { out, ...ended } = await site.run(['--help']);
  assert.deepEqual(ended, ENDED_WELL);
  assert.match(out, /^Usage: portico <command>\n/);
  for (const command of ['serve', 'api', 'dispatch', 'migrate', 'config', 'operator'])
    assert.match(out, new RegExp(`^  ${command} +\\w`, 'm'));
  for (const args of [[], ['-h'], ['help'], ['help', 'serve'], ['serve', '--help'], ['migrate', '-h']])
    assert.deepEqual(await site.run(args), { ...ENDED_WELL, out });
  assert.match((await site.run(['help', 'listen'])).out, /^Usage: portico listen /);
  assert.match(
    (await site.run(['help', 'lisetn'])).err,
    /There is no command lisetn\. Did you mean listen\?/,
  );
  assert.match((await site.run(['--version'])).out, /^\d+\.\d+\.\d+\n$/);
  // Also with invalid settings.
  assert.deepEqual(await site.run(['--help'], { PORTICO_PORT: 'http' }), { ...ENDED_WELL, out });
});

test('config prints every setting as an assignment, and hides secrets', BOUNDED, async (t) => {
  const site = await createSite(t);
  const secrets = {
    PORTICO_MASTER_KEY: ['c3', 'd4'].map((byte) => byte.repeat(32)).join(),
    PORTICO_OPERATOR_TOKEN: 'portico_op_not-to-be-seen-by-anyone-at-all',
    PORTICO_DATABASE_URL: 'postgresql://someone:hushhush@db.example/portico',
    PORTICO_S3_SECRET_ACCESS_KEY: 'whispered',
  };
  // The settings of a store come together.
  const store = {
    PORTICO_S3_ENDPOINT: 'https://s3.example.com',
    PORTICO_S3_BUCKET: 'files',
    PORTICO_S3_ACCESS_KEY_ID: 'AKIA',
  };
  const given = { ...secrets, ...store, PORTICO_RETRY_MAX_DELAY: '90s' };
  const { out, ...ended } = await site.run(['config'], given);
  assert.deepEqual(ended, ENDED_WELL);
  const shown = Object.fromEntries(
    [...out.matchAll(/^(PORTICO_\w+)=(.*?) +# \S.*$/gm)].map(([, variable, value]) => [variable, value]),
  ) as Record<string, string>;
  assert.deepEqual(
    Object.keys(shown),
    Object.values(settings).map(({ variable }) => variable),
  );
  for (const secret of Object.values(secrets).flatMap((value) => [value, ...value.split(/[,:@]/)]))
    if (!['postgresql', 'portico'].includes(secret)) assert.ok(!out.includes(secret), `${secret} is shown`);
  assert.equal(shown.PORTICO_OPERATOR_TOKEN, '[secret]');
  assert.equal(shown.PORTICO_MASTER_KEY, '[secret],[secret]');
  assert.deepEqual([shown.PORTICO_PORT, shown.PORTICO_RETRY_MAX_DELAY], [String(site.port), '90000ms']);

  const isGiven = ([, value]: [string, string]) => value !== '' && !value.includes('[secret]');
  const visible = Object.fromEntries(Object.entries(shown).filter(isGiven));
  const again = await site.run(['config'], { ...secrets, ...visible });
  assert.equal(again.out, out, 'the output is valid input');
  assert.deepEqual(await readdir(site.root), [], 'nothing is written');
});

test(
  'migrate prepares an embedded database, twice in a row, and leaves nothing running',
  BOUNDED,
  async (t) => {
    const site = await createSite(t);
    const { out, ...ended } = await site.run(['migrate']);
    assert.deepEqual(ended, ENDED_WELL);
    assert.match(out, /^applied 0001_organizations\n(applied \d{4}_[a-z_]+\n)*$/);
    assert.deepEqual(await site.run(['migrate']), { ...ENDED_WELL, out: 'The database is up to date.\n' });
    assert.deepEqual(await site.databaseProcesses(), []);
  },
);
