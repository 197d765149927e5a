import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { after, test } from 'node:test';
import { OPERATOR_TOKEN } from '../../testing/app/app.ts';
import {
  BOUNDED,
  createSite,
  findServicePort,
  type Running,
  untilReady,
  waitFor,
} from '../../testing/app/serve.ts';
import { createTestDatabase } from '../../testing/database/database.ts';
import { refusing } from '../../testing/webhooks/test-endpoint.ts';
import { query } from '../infrastructure/database/embedded/testing/temporary-server.ts';

const BEHIND = 'The database is behind this version; run: npx portico migrate';

const site = await createSite({ after });
/** Migrated by the first test. */
const created = await createTestDatabase({ migrated: false });
const migrated = await createTestDatabase();
after(() => Promise.all([created.drop(), migrated.drop()]));
const SECRETS = { PORTICO_MASTER_KEY: 'a1'.repeat(32), PORTICO_OPERATOR_TOKEN: OPERATOR_TOKEN };
const settings = { ...SECRETS, PORTICO_DATABASE_CONNECTIONS: '5' };
const ofCreated = { ...settings, PORTICO_DATABASE_URL: created.serviceUrl.reveal() };
const ofMigrated = { ...settings, PORTICO_DATABASE_URL: migrated.url.reveal() };
const asOwner = { ...ofCreated, PORTICO_MIGRATION_DATABASE_URL: created.ownerUrl.reveal() };

async function stop(running: Running): Promise<void> {
  running.kill('SIGTERM');
  const { code, err } = await running.exited;
  assert.deepEqual([code, err], [0, '']);
}

type Line = { msg: string; role?: string; port?: number };

async function linesOf(running: Running, count: number): Promise<Line[]> {
  const lines = () => running.out().split('\n').slice(0, -1);
  await waitFor('its lines in the log', running, () => lines().length >= count);
  return lines().map((line) => JSON.parse(line));
}

test('a database that is behind is refused until portico migrate has run', BOUNDED, async () => {
  assert.deepEqual(await site.run(['serve'], ofCreated), {
    code: 1,
    signal: null,
    out: '',
    err: `portico: ${BEHIND}\n`,
  });
  for (const command of ['api', 'dispatch'] as const)
    assert.equal(await site.refusal(command, ofCreated), BEHIND);
  assert.match(
    await site.refusal('migrate', ofCreated),
    /permission denied for schema public; set PORTICO_MIGRATION_DATABASE_URL to /,
  );
  const { code, out, err } = await site.run(['migrate'], asOwner);
  assert.deepEqual([code, err], [0, '']);
  assert.match(out, /^(applied \d{4}_[a-z_]+\n)+$/);
});

test('a role that owns nothing is enough for the service', BOUNDED, async () => {
  const running = site.start(['dispatch'], asOwner);
  assert.deepEqual(
    (await linesOf(running, 1)).map(({ msg }) => msg),
    ['dispatching'],
  );
  await assert.rejects(fetch(site.url), 'no port is open');
  await stop(running);
  await assert.rejects(query(created.serviceUrl.reveal(), 'truncate audit_records'), { code: '42501' });
});

for (const { command, url, role, excess } of [
  { command: 'serve', url: created.ownerUrl, role: 'portico_owner', excess: 'owns its tables' },
  { command: 'api', url: created.superuserUrl, role: 'portico', excess: 'is a superuser' },
])
  test(`${command} logs that its role ${excess}, and creates no demo`, BOUNDED, async () => {
    const running = await site.serve({ ...ofCreated, PORTICO_DATABASE_URL: url.reveal() }, command);
    const [warned, serving, ...others] = await linesOf(running, 2);
    assert.deepEqual([warned?.role, serving?.msg, serving?.port, others], [role, 'serving', site.port, []]);
    assert.match(String(warned?.msg), new RegExp(`${excess}; .*PORTICO_MIGRATION_DATABASE_URL`));
    const organizations = await fetch(`${site.operatorUrl}/operator/organizations`, {
      headers: { authorization: `Bearer ${OPERATOR_TOKEN}` },
    });
    assert.equal(((await organizations.json()) as { total: number }).total, 0);
    await stop(running);
    assert.deepEqual(await readdir(site.root), [], 'nothing is written to this machine');
  });

test('a database of a newer version is served and not changed', BOUNDED, async () => {
  const future = `insert into schema_migrations values ('9999_from_the_future', now())`;
  await query(created.ownerUrl.reveal(), future);
  await stop(await site.serve(ofCreated, 'api'));
  const again = await site.run(['migrate'], asOwner);
  assert.deepEqual(again, { code: 0, signal: null, out: 'The database is up to date.\n', err: '' });
});

test('migrate refuses the URLs of two different databases', BOUNDED, async () => {
  const different = { ...ofMigrated, PORTICO_MIGRATION_DATABASE_URL: created.ownerUrl.reveal() };
  assert.match(
    await site.refusal('migrate', different),
    /^PORTICO_DATABASE_URL and PORTICO_MIGRATION_DATABASE_URL name different databases/,
  );
});

test('an unusable database is reported without its password', BOUNDED, async () => {
  const url = migrated.url.reveal();
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
    ['migrate', { search: '?sslrootcert=/nowhere.pem' }, /\(ENOENT: .+ '\/nowhere\.pem'\)/],
  ] as const;
  for (const [command, changes, reason] of cases) {
    const address = Object.assign(new URL(url), changes).href;
    const message = await site.refusal(command, { ...settings, PORTICO_DATABASE_URL: address });
    assert.match(message, /^The database \w+ at [\w.]+:\d+ cannot be used \([^\n]+\)\.$/);
    assert.match(message, reason);
    assert.ok(
      message.includes(hostname) && !message.includes(password) && !message.includes('not-the-password'),
    );
  }
});

test('an address of another machine is reported', BOUNDED, async () => {
  // Reserved for documentation (RFC 5737).
  const message = await site.refusal('api', { ...ofMigrated, PORTICO_HOST: '192.0.2.1' });
  assert.equal(message, 'The address 192.0.2.1 does not belong to this machine; set PORTICO_HOST.');
});

test('a shared database requires configured secrets', BOUNDED, async () => {
  const { PORTICO_DATABASE_URL } = ofMigrated;
  const { code, out, err } = await site.run(['api'], { PORTICO_DATABASE_URL });
  assert.deepEqual([code, out], [1, '']);
  assert.match(err, /PORTICO_MASTER_KEY is required with .*\n.*PORTICO_OPERATOR_TOKEN is required with /);
});

test('a dispatcher serves health and metrics on its configured port, and nothing else', BOUNDED, async () => {
  const port = await findServicePort();
  const url = `http://127.0.0.1:${port}`;
  const running = site.start(['dispatch'], { ...ofMigrated, PORTICO_METRICS_PORT: String(port) });
  await untilReady(url, running);
  const metrics = await (await fetch(`${url}/metrics`)).text();
  assert.match(metrics, /^portico_deliveries_in_flight 0$/m);
  assert.match(metrics, /^portico_deliveries_waiting 0$/m);
  assert.equal((await fetch(`${url}/healthz`)).status, 200);
  for (const path of ['/operator/organizations', '/api/customers', '/openapi.json', '/operator/openapi.json'])
    assert.equal((await fetch(`${url}${path}`)).status, 404, path);
  assert.equal(
    await site.refusal('dispatch', { ...ofMigrated, PORTICO_METRICS_PORT: String(port) }),
    `Port ${port} is in use; stop the other process or set PORTICO_METRICS_PORT.`,
  );
  await stop(running);
});
