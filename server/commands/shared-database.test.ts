import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { type TestContext, test } from 'node:test';
import { OPERATOR_TOKEN } from '../../testing/app.ts';
import { createTestDatabase } from '../../testing/database.ts';
import {
  BOUNDED,
  createSite,
  findServicePort,
  type Running,
  untilReady,
  waitFor,
} from '../../testing/serve.ts';
import { refusing } from '../../testing/test-endpoint.ts';
import { query } from '../infrastructure/database/embedded/testing/temporary-server.ts';

async function createShared(t: TestContext, { migrated }: { migrated: boolean }) {
  const site = await createSite(t);
  const database = await createTestDatabase({ migrated });
  t.after(() => database.drop());
  const url = database.url.reveal();
  const settings = {
    PORTICO_DATABASE_URL: url,
    PORTICO_DATABASE_CONNECTIONS: '5',
    PORTICO_MASTER_KEY: 'a1'.repeat(32),
    PORTICO_OPERATOR_TOKEN: OPERATOR_TOKEN,
  };
  return { site, url, settings, database };
}

async function stop(running: Running): Promise<void> {
  running.kill('SIGTERM');
  const { code, err } = await running.exited;
  assert.deepEqual([code, err], [0, '']);
}

test('the owner migrates, and the service runs with a role that owns nothing', BOUNDED, async (t) => {
  const { site, settings, database } = await createShared(t, { migrated: false });
  const service = { ...settings, PORTICO_DATABASE_URL: database.serviceUrl.reveal() };
  const refused = await site.run(['api'], service);
  assert.equal(refused.err, 'portico: The database is behind this version; run: npx portico migrate\n');
  const denied = await site.run(['migrate'], service);
  assert.equal(denied.code, 1);
  assert.match(denied.err, /permission denied for schema public; set PORTICO_MIGRATION_DATABASE_URL to /);
  const owner = { ...service, PORTICO_MIGRATION_DATABASE_URL: database.ownerUrl.reveal() };
  const migrated = await site.run(['migrate'], owner);
  assert.deepEqual([migrated.code, migrated.err], [0, '']);
  const running = await site.serve(service, 'api');
  await stop(running);
  assert.doesNotMatch(running.out(), /database role/);
  await assert.rejects(query(database.serviceUrl.reveal(), 'truncate audit_records'), { code: '42501' });
});

test('migrate refuses the URLs of two different databases', BOUNDED, async (t) => {
  const { site, settings } = await createShared(t, { migrated: true });
  const other = await createTestDatabase();
  t.after(() => other.drop());
  const { code, out, err } = await site.run(['migrate'], {
    ...settings,
    PORTICO_MIGRATION_DATABASE_URL: other.ownerUrl.reveal(),
  });
  assert.deepEqual([code, out], [1, '']);
  assert.match(
    err,
    /^portico: PORTICO_DATABASE_URL and PORTICO_MIGRATION_DATABASE_URL name different databases/,
  );
});

test('a role that owns the tables or is a superuser is logged at the start', BOUNDED, async (t) => {
  const { site, settings, database } = await createShared(t, { migrated: true });
  for (const [command, url, warning] of [
    ['serve', database.ownerUrl, /"role":"portico_owner".*owns its tables; .*PORTICO_MIGRATION_DATABASE_URL/],
    ['api', database.superuserUrl, /"role":"portico".*is a superuser; .*PORTICO_MIGRATION_DATABASE_URL/],
  ] as const) {
    const running = await site.serve({ ...settings, PORTICO_DATABASE_URL: url.reveal() }, command);
    await stop(running);
    const lines = running
      .out()
      .split('\n')
      .filter((line) => line.includes('database role'));
    assert.equal(lines.length, 1, running.out());
    assert.match(String(lines[0]), warning);
  }
});

test('a database that is behind is refused until portico migrate has run', BOUNDED, async (t) => {
  const { site, settings: owner, database } = await createShared(t, { migrated: false });
  const settings = {
    ...owner,
    PORTICO_DATABASE_URL: database.serviceUrl.reveal(),
    PORTICO_MIGRATION_DATABASE_URL: database.ownerUrl.reveal(),
  };
  for (const command of ['serve', 'api', 'dispatch'])
    assert.deepEqual(await site.run([command], settings), {
      code: 1,
      signal: null,
      out: '',
      err: 'portico: The database is behind this version; run: npx portico migrate\n',
    });

  const first = await site.run(['migrate'], settings);
  assert.deepEqual([first.code, first.err], [0, '']);
  assert.match(first.out, /^(applied \d{4}_[a-z_]+\n)+$/);
  const second = await site.run(['migrate'], settings);
  assert.deepEqual(second, { code: 0, signal: null, out: 'The database is up to date.\n', err: '' });

  for (const command of ['serve', 'api']) {
    const running = await site.serve(settings, command);
    await waitFor('its line in the log', running, () => running.out().endsWith('\n'));
    const { msg, port } = JSON.parse(running.out());
    assert.deepEqual([msg, port], ['serving', site.port]);
    const organizations = await fetch(`${site.operatorUrl}/operator/organizations`, {
      headers: { authorization: `Bearer ${OPERATOR_TOKEN}` },
    });
    assert.equal(
      ((await organizations.json()) as { total: number }).total,
      0,
      'no demo in a shared database',
    );
    await stop(running);
  }
  const dispatching = site.start(['dispatch'], settings);
  await waitFor('its line in the log', dispatching, () => dispatching.out().endsWith('\n'));
  assert.equal(JSON.parse(dispatching.out()).msg, 'dispatching');
  await assert.rejects(fetch(site.url), 'no port is open');
  await stop(dispatching);
  assert.deepEqual(await readdir(site.root), [], 'nothing is written to this machine');
});

test('an unusable database is reported without its password', BOUNDED, async (t) => {
  const { site, url, settings } = await createShared(t, { migrated: true });
  const { password, hostname } = new URL(url);
  const cases = [
    ['serve', { host: new URL(await refusing()).host }, /\(ECONNREFUSED\)/],
    [
      'api',
      { password: 'not-the-password' },
      /\(password authentication failed for user "portico_service"\)/,
    ],
    ['dispatch', { pathname: '/nowhere' }, /database nowhere .*\(database "nowhere" does not exist\)/],
    ['migrate', { pathname: '/nowhere' }, /database nowhere .*\(database "nowhere" does not exist\)/],
  ] as const;
  for (const [command, changes, reason] of cases) {
    const address = Object.assign(new URL(url), changes).href;
    const { code, out, err } = await site.run([command], { ...settings, PORTICO_DATABASE_URL: address });
    assert.deepEqual([code, out], [1, '']);
    assert.match(err, /^portico: The database \w+ at [\w.]+:\d+ cannot be used \([^\n]+\)\.\n$/);
    assert.match(err, reason);
    assert.ok(err.includes(hostname) && !err.includes(password) && !err.includes('not-the-password'));
  }
});

test('an address of another machine is reported', BOUNDED, async (t) => {
  const { site, settings } = await createShared(t, { migrated: true });
  // Reserved for documentation (RFC 5737).
  const refused = await site.run(['api'], { ...settings, PORTICO_HOST: '192.0.2.1' });
  const err = 'portico: The address 192.0.2.1 does not belong to this machine; set PORTICO_HOST.\n';
  // The partitions of the template are those of the tests' clock; the command may add those of today.
  const out = refused.out.replaceAll(/^.*created a partition.*\n/gm, '');
  assert.deepEqual({ ...refused, out }, { code: 1, signal: null, out: '', err });
});

test('a shared database requires configured secrets', BOUNDED, async (t) => {
  const { site, url } = await createShared(t, { migrated: true });
  const { code, out, err } = await site.run(['api'], { PORTICO_DATABASE_URL: url });
  assert.deepEqual([code, out], [1, '']);
  assert.match(err, /PORTICO_MASTER_KEY is required with .*\n.*PORTICO_OPERATOR_TOKEN is required with /);
});

test('a database of a newer version is served and not changed', BOUNDED, async (t) => {
  const { site, settings, database } = await createShared(t, { migrated: true });
  await query(
    database.ownerUrl.reveal(),
    `insert into schema_migrations values ('9999_from_the_future', now())`,
  );
  await stop(await site.serve(settings, 'api'));
  const { code, out } = await site.run(['migrate'], settings);
  assert.deepEqual([code, out], [0, 'The database is up to date.\n']);
});

test(
  'a dispatcher serves health and metrics on its configured port, and nothing else',
  BOUNDED,
  async (t) => {
    const { site, settings } = await createShared(t, { migrated: true });
    const port = await findServicePort();
    const url = `http://127.0.0.1:${port}`;
    const running = site.start(['dispatch'], { ...settings, PORTICO_METRICS_PORT: String(port) });
    await untilReady(url, running);
    const metrics = await (await fetch(`${url}/metrics`)).text();
    assert.match(metrics, /^portico_deliveries_in_flight 0$/m);
    assert.match(metrics, /^portico_deliveries_waiting 0$/m);
    assert.equal((await fetch(`${url}/healthz`)).status, 200);
    for (const path of ['/operator/organizations', '/api/customers', '/openapi.json'])
      assert.equal((await fetch(`${url}${path}`)).status, 404, path);
    const second = await site.run(['dispatch'], { ...settings, PORTICO_METRICS_PORT: String(port) });
    assert.deepEqual(
      [second.code, second.err],
      [1, `portico: Port ${port} is in use; stop the other process or set PORTICO_METRICS_PORT.\n`],
    );
    await stop(running);
  },
);
