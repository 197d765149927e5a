import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { decodeJwt } from 'jose';
import { objectsOf } from '../../../testing/api/answers.ts';
import { assertError, createTestApp } from '../../../testing/app/app.ts';
import { createTenant } from '../../../testing/app/tenant.ts';
import { createTestDatabase } from '../../../testing/database/database.ts';
import {
  browse,
  browserOf,
  dashboardToken,
  joinTeam,
  logIn,
  type Person,
} from '../../../testing/people/dashboard.ts';
import { type Role, scopesOfRole } from '../../tokens/roles.ts';

/** Two nodes on one database: revocations apply on both before the call returns. */
const testDatabase = await createTestDatabase();
const app = await createTestApp({ testDatabase });
const second = await createTestApp({ testDatabase, clock: app.clock });
after(() => testDatabase.drop());
const { organizationGuid } = await createTenant(app);
const founder = await joinTeam(app, organizationGuid);

const tokenOf = (person: Person) => dashboardToken(app, person, organizationGuid);

async function assertRevoked(token: string): Promise<void> {
  for (const node of [app, second])
    assertError(await node.call({ url: '/api/customers', token }), 401, 'authentication_failed');
}

async function assertValid(token: string): Promise<void> {
  for (const node of [app, second])
    assert.equal((await node.call({ url: '/api/customers', token })).status, 200);
}

for (const role of ['founder', 'key_admin', 'developer', 'viewer'] as Role[])
  test(`a ${role} gets a token with the scopes of the role, for five minutes and one environment`, async () => {
    const person = await joinTeam(app, organizationGuid, { role });
    for (const environment of ['sandbox', 'production'] as const) {
      const payload = { organization_guid: organizationGuid, environment };
      const { status, body, headers } = await browse(app, 'POST', '/token', { as: person, payload });
      assert.equal(status, 200);
      const { access_token: token, ...rest } = body;
      const scope = scopesOfRole(role).join(' ');
      assert.deepEqual(rest, { token_type: 'Bearer', expires_in: 300, scope, role });
      assert.equal(headers['cache-control'], 'no-store');
      const claims = decodeJwt(String(token));
      assert.deepEqual(
        [claims.token_type, claims.sub, claims.organization_guid, claims.environment, claims.ip_allowlist],
        ['user', person.memberGuid, organizationGuid, environment, []],
      );
      assert.equal(Number(claims.exp) - Number(claims.iat), 300);
      await assertValid(String(token));
    }
  });

test('a token of one environment cannot access the other', async () => {
  const [sandbox, production] = [
    await dashboardToken(app, founder, organizationGuid, 'sandbox'),
    await dashboardToken(app, founder, organizationGuid, 'production'),
  ];
  const subscription = {
    type: 'webhook',
    name: 'Mine',
    url: 'https://partner.example/',
    environment: 'sandbox',
  };
  const create = (token: string) =>
    app.call({ method: 'POST', url: '/api/subscriptions', token, payload: subscription });
  assertError(await create(production), 400, 'invalid_parameter', /environment/);
  const { status, body } = await create(sandbox);
  assert.equal(status, 201, JSON.stringify(body));
  const list = async (token: string) =>
    objectsOf(await app.call({ url: '/api/subscriptions', token })).length;
  assert.deepEqual([await list(sandbox), await list(production)], [1, 0]);
  assertError(
    await app.call({ url: `/api/subscriptions/${body.guid}`, token: production }),
    404,
    'not_found',
  );
});

test('an Organization without an accepted membership is 404', async () => {
  const stranger = await createTenant(app);
  const invite = { email: founder.email, role: 'founder' };
  await app.operate('POST', `/organizations/${stranger.organizationGuid}/members`, invite);
  for (const guid of [stranger.organizationGuid, '0'.repeat(32)]) {
    const payload = { organization_guid: guid, environment: 'sandbox' };
    assertError(await browse(app, 'POST', '/token', { as: founder, payload }), 404, 'not_found');
  }
});

test('logging out revokes the tokens of that session only, on every node', async () => {
  const person = await joinTeam(app, organizationGuid);
  const other = { ...person, ...browserOf(await logIn(app, person)) };
  const [mine, theirs] = [await tokenOf(person), await tokenOf(other)];
  await assertValid(mine);
  await browse(app, 'POST', '/logout', { as: person, payload: {} });
  await assertRevoked(mine);
  await assertValid(theirs);
});

test('a node without a lease checks the database', async () => {
  const alone = await createTestApp({ testDatabase, clock: app.clock });
  await alone.revocations.stop();
  const person = await joinTeam(app, organizationGuid, { role: 'viewer' });
  const [bySession, byGrant] = [await tokenOf(person), await tokenOf(founder)];
  const isAlive = async (token: string) =>
    (await alone.call({ url: '/api/customers', token })).status === 200;
  assert.deepEqual([await isAlive(bySession), await isAlive(byGrant)], [true, true]);
  await browse(app, 'POST', '/logout', { as: person, payload: {} });
  assert.deepEqual([await isAlive(bySession), await isAlive(byGrant)], [false, true]);
  const again = { ...person, ...browserOf(await logIn(app, person)) };
  const next = await tokenOf(again);
  const url = `/api/members/${person.memberGuid}`;
  await app.call({ method: 'DELETE', url, token: byGrant });
  assert.deepEqual([await isAlive(next), await isAlive(byGrant)], [false, true]);
});

test('ending a session from another one, and a password change, revoke its tokens', async () => {
  const person = await joinTeam(app, organizationGuid);
  const [one, two] = [browserOf(await logIn(app, person)), browserOf(await logIn(app, person))];
  const tokens = await Promise.all([one, two].map((as) => dashboardToken(app, as, organizationGuid)));
  const current = await tokenOf(person);
  const [newest] = objectsOf(await browse(app, 'GET', '/account/sessions', { as: person }));
  await browse(app, 'DELETE', `/account/sessions/${newest?.guid}`, { as: person });
  await assertRevoked(tokens[1] as string);
  await assertValid(tokens[0] as string);
  const payload = { current_password: person.password, new_password: 'a brand new password' };
  await browse(app, 'POST', '/account/password', { as: person, payload });
  await assertRevoked(tokens[0] as string);
  await assertValid(current);
});

test('a role change revokes tokens with the old role, and the next token has the new scopes', async () => {
  const person = await joinTeam(app, organizationGuid, { role: 'key_admin' });
  const before = await tokenOf(person);
  await assertValid(before);
  const url = `/api/members/${person.memberGuid}`;
  const token = await tokenOf(founder);
  const changed = await app.call({ method: 'PATCH', url, token, payload: { role: 'viewer' } });
  assert.equal(changed.status, 200, JSON.stringify(changed.body));
  await assertRevoked(before);
  const next = await tokenOf(person);
  await assertValid(next);
  const key = { name: 'x', ip_allowlist: ['8.8.8.8'] };
  const create = { method: 'POST', url: '/api/organization_applications', payload: key } as const;
  assertError(await app.call({ ...create, token: next }), 403, 'invalid_scopes');
});

test('setting the same role revokes nothing', async () => {
  const person = await joinTeam(app, organizationGuid, { role: 'viewer' });
  const before = await tokenOf(person);
  const token = await tokenOf(founder);
  const url = `/api/members/${person.memberGuid}`;
  assert.equal((await app.call({ method: 'PATCH', url, token, payload: { role: 'viewer' } })).status, 200);
  await assertValid(before);
});

test('removal from a team revokes the tokens for it, not the session or other tokens', async () => {
  const elsewhere = await createTenant(app);
  const person = await joinTeam(app, organizationGuid, { role: 'founder' });
  const invited = await app.operate('POST', `/organizations/${elsewhere.organizationGuid}/members`, {
    email: person.email,
    role: 'viewer',
  });
  const token = String(invited.body.invitation_link).split('#token=')[1];
  await browse(app, 'POST', '/links/accept', { as: person, payload: { token } });
  const here = await tokenOf(person);
  const there = await dashboardToken(app, person, elsewhere.organizationGuid);
  const removed = await app.call({
    method: 'DELETE',
    url: `/api/members/${person.memberGuid}`,
    token: await tokenOf(founder),
  });
  assert.equal(removed.status, 204);
  await assertRevoked(here);
  await assertValid(there);
  const payload = { organization_guid: organizationGuid, environment: 'sandbox' };
  assertError(await browse(app, 'POST', '/token', { as: person, payload }), 404, 'not_found');
  const { body } = await browse(app, 'GET', '/session', { as: person });
  assert.deepEqual(
    (body.organizations as { guid: string }[]).map(({ guid }) => guid),
    [elsewhere.organizationGuid],
  );
});
