import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { createTestApp, type TestApp } from '../../testing/app/app.ts';
import { exportFrom, importInto, operator } from '../../testing/app/cells.ts';
import { createKey, createTenant, type Key } from '../../testing/app/tenant.ts';
import { browse, browserOf, joinTeam, logIn, PASSWORD, tokenInLink } from '../../testing/people/dashboard.ts';
import { isFailure } from '../infrastructure/runtime/failure.ts';
import { createLog } from '../infrastructure/runtime/log.ts';
import { closeDemoIfExposed } from './closed-demo.ts';
import { createDemo, type Demo, FOUNDER_EMAIL, findDemoFounder } from './demo.ts';

const exposure = { exposedBy: ['PORTICO_HOST=0.0.0.0'], off: [], unsafe: [] };
const A_MINUTE_AND_MORE_MS = 61_000;

async function close(app: TestApp, config = { exposure, demo: false }): Promise<string[]> {
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  await closeDemoIfExposed(app, config, createLog({ level: 'info', terminal: false, destination }));
  return lines;
}

async function requestToken(app: TestApp, { clientId, secret }: Key) {
  const { status, body } = await app.call({
    method: 'POST',
    url: '/oauth/token',
    headers: {
      authorization: `Basic ${Buffer.from(`${clientId}:${secret}`).toString('base64')}`,
      'content-type': 'application/x-www-form-urlencoded',
    },
    payload: 'grant_type=client_credentials&scope=customers:read',
  });
  return { status, token: String(body.access_token) };
}

const keyOf = ({ bankKey: { application, secret } }: Demo) => ({
  clientId: application.client_id,
  secret: secret.reveal(),
});
const organizationKeyOf = (demo: Demo) => keyOf({ ...demo, bankKey: demo.organizationKey });
const founderOf = ({ founder }: Demo) => ({ email: founder.email, password: founder.password.reveal() });

async function subscriptionsOf({ subscriptions }: TestApp, { organization }: Demo) {
  const page = { number: 0, perPage: 10, offset: 0, after: undefined };
  const found = await subscriptions.list({ organizationGuid: organization.guid }, page, {});
  assert.ok(!isFailure(found));
  return found.rows.map(({ name, state, disabled_at }) => [name, state, disabled_at !== null]);
}

async function createDemoApp(options: Parameters<typeof createTestApp>[0] = {}) {
  const app = await createTestApp({ ...options, environment: { PORTICO_ALLOWLIST_POLICY: 'optional' } });
  const demo = await createDemo(app, { randomBytes, withInbox: true });
  assert.ok(demo);
  app.clock.advance(A_MINUTE_AND_MORE_MS);
  return { app, demo };
}

test('an exposed start closes an earlier demo once, and nothing else', async () => {
  const { app, demo } = await createDemoApp();
  const addedKey = await createKey(app, `/banks/${demo.bank.guid}/applications`, { name: 'Added by hand' });
  const colleague = await joinTeam(app, demo.organization.guid, { email: 'ada@partner.example' });
  const { token } = await requestToken(app, keyOf(demo));
  const listCustomers = () => app.call({ method: 'GET', url: '/api/customers', token });
  assert.equal((await listCustomers()).status, 200);
  const session = await logIn(app, founderOf(demo));
  assert.equal(session.status, 200);
  const founder = await findDemoFounder(app);
  const reset = await app.operate('POST', `/members/${founder?.guid}/password_reset`, {});
  const newPassword = { token: tokenInLink(reset.body.link), password: PASSWORD };

  const lines = await close(app);
  assert.equal(lines.length, 1);
  const { msg, removed_keys, locked_member, exposed_by } = JSON.parse(String(lines[0]));
  assert.match(msg, /^closed the demo: .*PORTICO_DEMO=true/);
  assert.deepEqual(
    [removed_keys, locked_member, exposed_by],
    [[keyOf(demo).clientId, organizationKeyOf(demo).clientId], FOUNDER_EMAIL, exposure.exposedBy],
  );

  for (const key of [keyOf(demo), organizationKeyOf(demo)])
    assert.equal((await requestToken(app, key)).status, 401);
  assert.equal((await listCustomers()).status, 401);
  assert.equal((await logIn(app, founderOf(demo))).status, 401);
  assert.equal((await browse(app, 'GET', '/session', { as: browserOf(session) })).status, 401);
  assert.equal((await browse(app, 'POST', '/password', { payload: newPassword })).status, 404);
  assert.equal(await findDemoFounder(app), undefined);
  const tenant = { organizationGuid: demo.organization.guid };
  assert.deepEqual(await app.inboxes.list(tenant), []);
  assert.deepEqual(await subscriptionsOf(app, demo), [['Demo inbox', 'deleting', true]]);

  assert.equal((await requestToken(app, addedKey)).status, 200);
  assert.equal((await logIn(app, colleague)).status, 200);
  assert.deepEqual(await close(app), [], 'a later start changes nothing');
});

test('a demo stays open on loopback and with PORTICO_DEMO=true', async () => {
  const { app, demo } = await createDemoApp();
  assert.deepEqual(await close(app, { exposure, demo: true }), []);
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  const log = createLog({ level: 'info', terminal: false, destination });
  await closeDemoIfExposed(app, { exposure: undefined, demo: false }, log);
  assert.deepEqual(lines, []);
  for (const key of [keyOf(demo), organizationKeyOf(demo)])
    assert.equal((await requestToken(app, key)).status, 200);
  assert.equal((await logIn(app, founderOf(demo))).status, 200);
  assert.deepEqual(await subscriptionsOf(app, demo), [['Demo inbox', 'storing', false]]);
});

test("an Organization that invited the demo's address later is not a demo", async () => {
  const app = await createTestApp();
  const { organizationGuid } = await createTenant(app);
  app.clock.advance(A_MINUTE_AND_MORE_MS);
  const member = await joinTeam(app, organizationGuid, { email: FOUNDER_EMAIL });
  assert.deepEqual(await close(app), []);
  assert.equal((await logIn(app, member)).status, 200);
});

test('an exposed start closes its demo and an imported one, and leaves an older imported Organization', async () => {
  const origin = await createDemoApp();
  const { clock } = origin.app;
  const older = await createTenant(origin.app);
  clock.advance(A_MINUTE_AND_MORE_MS);
  const { app, demo } = await createDemoApp({ clock });
  for (const guid of [origin.demo.organization.guid, older.organizationGuid])
    assert.ok(!isFailure(await importInto(app, await exportFrom(origin.app, guid))));
  assert.equal((await requestToken(app, keyOf(origin.demo))).status, 200);
  assert.equal((await close(app)).length, 2);
  for (const each of [demo, origin.demo]) assert.equal((await requestToken(app, keyOf(each))).status, 401);
  assert.equal((await requestToken(app, older.bankKey)).status, 200);
});

test('a demo whose Founder was removed by hand is closed, also next to an older imported Organization', async () => {
  const { app: origin } = await createDemoApp();
  const { organizationGuid } = await createTenant(origin);
  const { app, demo } = await createDemoApp({ clock: origin.clock });
  assert.ok(!isFailure(await importInto(app, await exportFrom(origin, organizationGuid))));
  const founder = await findDemoFounder(app);
  const removed = await app.operate(
    'DELETE',
    `/organizations/${demo.organization.guid}/members/${founder?.guid}`,
  );
  assert.equal(removed.status, 204, JSON.stringify(removed.body));
  assert.equal((await close(app)).length, 1);
  assert.equal((await requestToken(app, keyOf(demo))).status, 401);
});

test('an exposed start locks the Founder of a frozen demo, and the next one closes the unfrozen demo', async () => {
  const { app, demo } = await createDemoApp();
  await exportFrom(app, demo.organization.guid);
  const [line] = await close(app);
  assert.match(JSON.parse(String(line)).msg, /^locked the Founder of the demo; .*frozen/);
  assert.equal((await logIn(app, founderOf(demo))).status, 401);
  assert.equal((await requestToken(app, keyOf(demo))).status, 503);
  assert.ok(!isFailure(await app.transfers.unfreeze(operator, demo.organization.guid)));
  assert.equal((await close(app)).length, 1);
  assert.equal((await requestToken(app, keyOf(demo))).status, 401);
});
