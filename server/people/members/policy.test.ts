import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeJwt } from 'jose';
import { auditRecordsOf, objectsOf, soleRecord } from '../../../testing/api/answers.ts';
import { assertError, createTestApp } from '../../../testing/app/app.ts';
import { createTenant } from '../../../testing/app/tenant.ts';
import { createAuthenticator } from '../../../testing/people/authenticator.ts';
import {
  type Browser,
  browse,
  browserOf,
  dashboardToken,
  joinTeam,
  logIn,
} from '../../../testing/people/dashboard.ts';
import { codesOf } from '../../../testing/people/totp.ts';

const app = await createTestApp();
const STEP_MS = 30_000;
const NEW_BANK = { method: 'POST', url: '/api/banks', payload: { name: 'Second' } } as const;

async function turnOnTotp(as: Browser): Promise<() => string> {
  const { body } = await browse(app, 'POST', '/account/totp', { as, payload: {} });
  const code = codesOf(app, body.secret);
  const { status } = await browse(app, 'POST', '/account/totp/confirm', { as, payload: { code: code() } });
  assert.equal(status, 200);
  app.clock.advance(STEP_MS);
  return code;
}

async function addPasskey(as: Browser) {
  const authenticator = createAuthenticator();
  const options = await browse(app, 'POST', '/account/passkeys/options', { as, payload: {} });
  const payload = { name: 'Laptop', response: authenticator.create(options.body as { challenge: string }) };
  const { status, body } = await browse(app, 'POST', '/account/passkeys', { as, payload });
  assert.equal(status, 201, JSON.stringify(body));
  return { authenticator, guid: String(body.guid) };
}

type Environment = 'sandbox' | 'production';
async function call(as: Browser, organizationGuid: string, options: object, environment?: Environment) {
  const token = await dashboardToken(app, as, organizationGuid, environment);
  return app.call({ ...options, token });
}
const patch = (as: Browser, organizationGuid: string, payload: object) =>
  call(as, organizationGuid, { method: 'PATCH', url: '/api/member_policy', payload });

test('a user token has claims for the last proof and its second factor', async () => {
  const { organizationGuid } = await createTenant(app);
  const person = await joinTeam(app, organizationGuid, { role: 'developer' });
  const loggedInAt = Math.floor(app.clock.now().getTime() / 1_000);
  app.clock.advance(90_000);
  const claims = async (as: Browser) => {
    const { role, auth_time, amr } = decodeJwt(await dashboardToken(app, as, organizationGuid));
    return { role, auth_time, amr };
  };
  assert.deepEqual(await claims(person), { role: 'developer', auth_time: loggedInAt, amr: ['pwd'] });
  const code = await turnOnTotp(person);
  assert.deepEqual((await claims(person)).amr, ['mfa'], 'a code was confirmed');
  const again = browserOf(await logIn(app, person, { code: code() }));
  assert.deepEqual((await claims(again)).amr, ['mfa']);
});

test('a role that needs a second factor is refused without one and admitted with one', async () => {
  const { organizationGuid } = await createTenant(app);
  const founder = await joinTeam(app, organizationGuid);
  const developer = await joinTeam(app, organizationGuid, { role: 'developer' });
  await turnOnTotp(founder);
  const changed = await patch(founder, organizationGuid, { second_factor_roles: ['founder', 'developer'] });
  assert.equal(changed.status, 200, JSON.stringify(changed.body));
  assert.deepEqual(changed.body, {
    second_factor_roles: ['founder', 'developer'],
    second_factor_in_production: false,
  });
  for (const options of [{ url: '/api/banks' }, NEW_BANK])
    assertError(await call(developer, organizationGuid, options), 403, 'second_factor_required', /your role/);
  const session = await browse(app, 'GET', '/session', { as: developer });
  assert.equal(session.body.second_factor, false);
  assert.equal((session.body.organizations as { second_factor: string }[])[0]?.second_factor, 'always');

  const { guid } = await addPasskey(developer);
  assert.equal(
    (await call(developer, organizationGuid, NEW_BANK)).status,
    201,
    'adding a second factor counts as using it',
  );
  assert.equal((await browse(app, 'DELETE', `/account/passkeys/${guid}`, { as: developer })).status, 204);
  assertError(await call(developer, organizationGuid, NEW_BANK), 403, 'second_factor_required');
});

test('a member who logged in without their second factor is asked for it', async () => {
  const { organizationGuid } = await createTenant(app);
  const person = await joinTeam(app, organizationGuid, { role: 'viewer' });
  const { authenticator } = await addPasskey(person);
  const path = `/organizations/${organizationGuid}`;
  assert.equal((await app.operate('PATCH', path, { second_factor_roles: ['viewer'] })).status, 200);
  const byPassword = browserOf(await logIn(app, person));
  const read = (as: Browser) => call(as, organizationGuid, { url: '/api/banks' });
  assertError(await read(byPassword), 403, 'second_factor_required');
  assert.equal((await read(person)).status, 200);
  const options = await browse(app, 'POST', '/passkey_login/options', { payload: {} });
  const asked = options.body as { challenge: string; challenge_id: string };
  const payload = { challenge_id: asked.challenge_id, response: authenticator.get(asked) };
  const proved = await browse(app, 'POST', '/account/proof/passkey', { as: byPassword, payload });
  assert.equal(proved.status, 204);
  assert.equal((await read(byPassword)).status, 200);
});

test('a live Organization requires a second factor for changes in production and in both environments', async () => {
  const live = await app.operate('POST', '/organizations', { name: 'Acme', live: true });
  assert.equal(live.body.second_factor_in_production, true);
  const organizationGuid = String(live.body.guid);
  const founder = await joinTeam(app, organizationGuid);
  const invite = { method: 'POST', url: '/api/members', payload: { email: 'x@acme.test', role: 'viewer' } };
  const key = { method: 'POST', url: '/api/organization_applications', payload: { name: 'Key' } };
  const refused = [
    [NEW_BANK, 'production'],
    [invite, 'sandbox'],
    [key, 'sandbox'],
    [{ method: 'PATCH', url: '/api/member_policy', payload: {} }, 'sandbox'],
  ] as const;
  for (const [options, environment] of refused)
    assertError(
      await call(founder, organizationGuid, options, environment),
      403,
      'second_factor_required',
      /production/,
    );
  assert.equal((await call(founder, organizationGuid, { url: '/api/members' }, 'production')).status, 200);
  assert.equal((await call(founder, organizationGuid, NEW_BANK, 'sandbox')).status, 201);

  await turnOnTotp(founder);
  assert.equal((await call(founder, organizationGuid, invite, 'sandbox')).status, 201);
  const optional = await patch(founder, organizationGuid, { second_factor_in_production: false });
  assert.equal(optional.body.second_factor_in_production, false);
  const second = await joinTeam(app, organizationGuid);
  const other = { ...invite, payload: { email: 'y@acme.test', role: 'viewer' } };
  assert.equal((await call(second, organizationGuid, other, 'production')).status, 201);
});

test('a policy that is sent back unchanged changes nothing, and keeps the default for going live', async () => {
  const { body: created } = await app.operate('POST', '/organizations', { name: 'Acme' });
  const organizationGuid = String(created.guid);
  const founder = await joinTeam(app, organizationGuid);
  const { body: policy } = await call(founder, organizationGuid, { url: '/api/member_policy' });
  assert.deepEqual(policy, { second_factor_roles: [], second_factor_in_production: false });
  assert.equal((await patch(founder, organizationGuid, policy)).status, 200);
  assert.deepEqual(await auditRecordsOf(app, organizationGuid, 'organization.update'), []);
  const { guid, created_at, updated_at, ...own } = created;
  const live = await app.operate('PATCH', `/organizations/${guid}`, { ...own, live: true });
  assert.equal(live.body.second_factor_in_production, true);
  const { changes, before } = soleRecord(await auditRecordsOf(app, organizationGuid, 'organization.update'));
  assert.deepEqual([changes, before], [{ live: true }, { live: false }]);
});

test('a setting ends when it gets the value of the default, and when the Organization goes live', async () => {
  const { body: created } = await app.operate('POST', '/organizations', { name: 'Acme' });
  const set = async (changes: object) => {
    const { body } = await app.operate('PATCH', `/organizations/${created.guid}`, changes);
    return body.second_factor_in_production;
  };
  const inProduction = (value: boolean) => set({ second_factor_in_production: value });
  assert.deepEqual([await inProduction(true), await inProduction(false)], [true, false]);
  assert.equal(await set({ live: true }), true, 'a false from before does not count');
  assert.equal(await inProduction(false), false, 'the live Organization says otherwise');
  assert.equal(await set({ name: 'Acme Ltd' }), false);
  assert.deepEqual([await inProduction(true), await set({ live: false })], [true, false]);
  assert.deepEqual([await inProduction(true), await set({ name: 'Acme' })], [true, true]);
});

test('the requirement applies to tokens that were issued before', async () => {
  const { organizationGuid } = await createTenant(app);
  const developer = await joinTeam(app, organizationGuid, { role: 'developer' });
  const token = await dashboardToken(app, developer, organizationGuid);
  assert.equal((await app.call({ url: '/api/banks', token })).status, 200);
  await app.operate('PATCH', `/organizations/${organizationGuid}`, { second_factor_roles: ['developer'] });
  assertError(await app.call({ url: '/api/banks', token }), 403, 'second_factor_required');
});

test('only a Founder with a second factor changes the policy, and the change is in the audit log', async () => {
  const { organizationGuid } = await createTenant(app);
  const founder = await joinTeam(app, organizationGuid);
  const required = { second_factor_roles: ['viewer'] };
  for (const role of ['key_admin', 'developer', 'viewer'] as const) {
    const other = await joinTeam(app, organizationGuid, { role });
    assertError(await patch(other, organizationGuid, required), 403, 'invalid_scopes');
    assert.equal((await call(other, organizationGuid, { url: '/api/member_policy' })).status, 200);
  }
  assertError(
    await patch(founder, organizationGuid, required),
    403,
    'second_factor_required',
    /your own second factor/,
  );
  const nonsense = { second_factor_roles: ['owner'] };
  assertError(await patch(founder, organizationGuid, nonsense), 400, 'invalid_parameter');
  await turnOnTotp(founder);
  assert.equal((await patch(founder, organizationGuid, required)).status, 200);
  const records = await app.operate('GET', `/audit_records?object_id=${organizationGuid}`);
  const [{ changes, actor } = {}] = objectsOf(records).filter(
    ({ action }) => action === 'organization.update',
  );
  assert.deepEqual(changes, required);
  assert.ok(JSON.stringify(actor).includes(founder.memberGuid));
});

test('API keys are not affected', async () => {
  const { organizationGuid, organizationKey } = await createTenant(app);
  await app.operate('PATCH', `/organizations/${organizationGuid}`, {
    ...{ second_factor_roles: ['founder'], second_factor_in_production: true },
  });
  const { body } = await app.call({
    method: 'POST',
    url: '/oauth/token',
    payload: {
      ...{ grant_type: 'client_credentials', scope: 'banks:read banks:execute' },
      ...{ client_id: organizationKey.clientId, client_secret: organizationKey.secret },
    },
  });
  const token = String(body.access_token);
  assert.equal((await app.call({ ...NEW_BANK, token })).status, 201);
});
