import assert from 'node:assert/strict';
import { test } from 'node:test';
import { auditRecordsOf, objectsOf } from '../../../testing/api/answers.ts';
import { assertError, createTestApp } from '../../../testing/app/app.ts';
import { createTenant, everyScope, tokenOf, userToken } from '../../../testing/app/tenant.ts';
import {
  browse,
  dashboardToken,
  joinTeam,
  type Person,
  tokenInLink,
} from '../../../testing/people/dashboard.ts';
import type { Role } from '../../tokens/roles.ts';

const app = await createTestApp();
const tenant = await createTenant(app);
const { organizationGuid } = tenant;
const founder = await joinTeam(app, organizationGuid, { email: 'founder@partner.example' });
const ROLES: readonly Role[] = ['founder', 'key_admin', 'developer', 'viewer'];

const api = async (as: Person, method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, payload?: object) =>
  app.call({
    method,
    url: `/api${path}`,
    token: await dashboardToken(app, as, organizationGuid),
    ...(payload ? { payload } : {}),
  });

test('an invited person is listed as invited, and as active after accepting', async () => {
  const created_at = app.clock.now().toISOString();
  const invited = await api(founder, 'POST', '/members', {
    email: 'Grace@Partner.example',
    role: 'developer',
  });
  assert.equal(invited.status, 201, JSON.stringify(invited.body));
  const { invitation_link: link, ...member } = invited.body;
  const expected = { guid: member.guid, email: 'grace@partner.example', role: 'developer', created_at };
  const invitation_expires_at = new Date(app.clock.now().getTime() + 7 * 24 * 3_600_000).toISOString();
  assert.deepEqual(member, { ...expected, state: 'invited', invitation_expires_at });
  const listed = async () =>
    objectsOf(await api(founder, 'GET', '/members')).find(({ guid }) => guid === member.guid);
  assert.deepEqual(await listed(), { ...expected, state: 'invited', invitation_expires_at });

  const payload = { token: tokenInLink(link), password: 'a brand new password', name: 'Grace' };
  const { headers } = await browse(app, 'POST', '/password', { payload });
  assert.deepEqual(await listed(), { ...expected, name: 'Grace', state: 'active' });
  app.clock.advance(1_000);
  const cookie = String(headers['set-cookie']).split(';', 1)[0] as string;
  await dashboardToken(app, { cookie }, organizationGuid);
  assert.equal((await listed())?.last_seen_at, app.clock.now().toISOString());
});

test('a repeated invitation replaces the link and its expiry', async () => {
  const input = { email: 'again@partner.example', role: 'viewer' };
  const first = await api(founder, 'POST', '/members', input);
  app.clock.advance(60_000);
  const second = await api(founder, 'POST', '/members', input);
  assert.equal(second.body.guid, first.body.guid);
  const passed = [first, second].map(({ body }) => Date.parse(String(body.invitation_expires_at)));
  assert.equal(Number(passed[1]) - Number(passed[0]), 60_000);
  const payload = { token: tokenInLink(first.body.invitation_link), password: 'a brand new password' };
  assertError(await browse(app, 'POST', '/password', { payload }), 404, 'not_found');
});

test('every role can list the team, only a Founder can change it', async () => {
  for (const role of ROLES) {
    const [person, other] = [
      await joinTeam(app, organizationGuid, { role }),
      await joinTeam(app, organizationGuid, { role: 'viewer' }),
    ];
    assert.equal((await api(person, 'GET', '/members')).status, 200, role);
    const answers = [
      await api(person, 'POST', '/members', { email: `by-${role}@partner.example`, role: 'viewer' }),
      await api(person, 'PATCH', `/members/${other.memberGuid}`, { role: 'founder' }),
      await api(person, 'DELETE', `/members/${other.memberGuid}`),
    ];
    if (role === 'founder')
      assert.deepEqual(
        answers.map(({ status }) => status),
        [201, 200, 204],
      );
    else for (const answer of answers) assertError(answer, 403, 'invalid_scopes', /members:write$/);
  }
});

test('API keys cannot access the team, with any scope', async () => {
  for (const key of [tenant.organizationKey, tenant.bankKey]) {
    const holder = key === tenant.bankKey ? 'bank' : 'organization';
    const token = await tokenOf(app, key, everyScope(holder));
    for (const url of ['/api/members', '/api/audit_entries', '/api/audit_entries.csv'])
      assertError(await app.call({ url, token }), 403, 'invalid_scopes');
    const asked = await app.call({
      method: 'POST',
      url: '/oauth/token',
      payload: {
        grant_type: 'client_credentials',
        client_id: key.clientId,
        client_secret: key.secret,
        scope: 'members:write',
      },
    });
    assertError(asked, 400, 'invalid_scope');
  }
});

test('a token of a person who is not on the team is refused', async () => {
  const token = await userToken(app, organizationGuid, 'founder');
  const answer = await app.call({
    method: 'POST',
    url: '/api/members',
    token,
    payload: { email: 'x@partner.example', role: 'viewer' },
  });
  assertError(answer, 403, 'invalid_scopes', 'Only a Founder can change the team');
});

test('a member cannot be invited again; an invited person can, which invalidates the old link', async () => {
  assertError(
    await api(founder, 'POST', '/members', { email: 'FOUNDER@partner.example', role: 'viewer' }),
    409,
    'member_exists',
  );
  const invite = (role: Role) => api(founder, 'POST', '/members', { email: 'twice@partner.example', role });
  const [first, second] = [await invite('viewer'), await invite('developer')];
  assert.deepEqual([second.status, second.body.guid, second.body.role], [201, first.body.guid, 'developer']);
  const inspect = (link: unknown) =>
    browse(app, 'POST', '/links/inspect', { payload: { token: tokenInLink(link) } });
  assertError(await inspect(first.body.invitation_link), 404, 'not_found');
  assert.equal((await inspect(second.body.invitation_link)).status, 200);
  const listed = objectsOf(await api(founder, 'GET', '/members'));
  assert.equal(listed.filter(({ email }) => email === 'twice@partner.example').length, 1);
});

test('the name of an invited person is hidden until they accept', async () => {
  const person = await joinTeam(app, (await createTenant(app)).organizationGuid);
  await browse(app, 'PATCH', '/account', { as: person, payload: { name: 'Ada' } });
  const invited = await api(founder, 'POST', '/members', { email: person.email, role: 'viewer' });
  const listed = async () =>
    objectsOf(await api(founder, 'GET', '/members')).find(({ guid }) => guid === person.memberGuid);
  const changed = await api(founder, 'PATCH', `/members/${person.memberGuid}`, { role: 'developer' });
  const seen = [invited.body, changed.body, await listed()];
  assert.deepEqual(
    seen.map((member) => [member?.email, member?.state, member?.name]),
    seen.map(() => [person.email, 'invited', undefined]),
  );
  const payload = { token: tokenInLink(invited.body.invitation_link) };
  await browse(app, 'POST', '/links/accept', { as: person, payload });
  assert.equal((await listed())?.name, 'Ada');
});

test('an invalid invitation is refused by field', async () => {
  for (const [payload, name] of [
    [{ email: 'no address', role: 'viewer' }, 'email'],
    [{ email: `${'x'.repeat(250)}@a.example`, role: 'viewer' }, 'email'],
    [{ email: 'a@partner.example', role: 'owner' }, 'role'],
    [{ email: 'a@partner.example', role: 'Founder' }, 'role'],
  ] as const)
    assertError(await api(founder, 'POST', '/members', payload), 400, 'invalid_parameter', new RegExp(name));
});

test('a person in two teams: neither sees the other membership', async () => {
  const other = await createTenant(app);
  const stranger = await joinTeam(app, other.organizationGuid);
  const person = await joinTeam(app, organizationGuid, { role: 'viewer' });
  const invited = await app.operate('POST', `/organizations/${other.organizationGuid}/members`, {
    email: person.email,
    role: 'key_admin',
  });
  const accept = { token: tokenInLink(invited.body.invitation_link) };
  await browse(app, 'POST', '/links/accept', { as: person, payload: accept });
  await dashboardToken(app, person, other.organizationGuid);
  const seen = objectsOf(await api(founder, 'GET', '/members')).find(
    ({ guid }) => guid === person.memberGuid,
  );
  assert.deepEqual([seen?.role, seen?.last_seen_at], ['viewer', undefined]);
  const token = await dashboardToken(app, stranger, other.organizationGuid);
  const url = `/api/members/${founder.memberGuid}`;
  for (const call of [{ method: 'PATCH', payload: { role: 'viewer' } }, { method: 'DELETE' }] as const)
    assertError(await app.call({ ...call, url, token }), 404, 'not_found');
});

test('every change of the team is in the audit record, with its actor', async () => {
  const { body } = await api(founder, 'POST', '/members', { email: 'told@partner.example', role: 'viewer' });
  const guid = String(body.guid);
  const payload = { token: tokenInLink(body.invitation_link), password: 'a brand new password' };
  await browse(app, 'POST', '/password', { payload });
  await api(founder, 'PATCH', `/members/${guid}`, { role: 'developer' });
  await api(founder, 'PATCH', `/members/${guid}`, { role: 'developer' });
  await api(founder, 'DELETE', `/members/${guid}`);
  const records = await auditRecordsOf(app, guid);
  const told = records.map(({ action, actor_type, actor, changes, organization_guid: organization }) => [
    ...[action, actor_type, actor === guid ? 'themselves' : actor === founder.memberGuid && 'the founder'],
    ...[changes, organization === undefined ? 'nowhere' : 'in the organization'],
  ]);
  assert.deepEqual(told.filter(([action]) => String(action).startsWith('member.')).reverse(), [
    [
      'member.invite',
      'user',
      'the founder',
      { email: 'told@partner.example', role: 'viewer' },
      'in the organization',
    ],
    ['member.accept', 'user', 'themselves', {}, 'in the organization'],
    ['member.update', 'user', 'the founder', { role: 'developer' }, 'in the organization'],
    ['member.remove', 'user', 'the founder', { role: 'developer' }, 'in the organization'],
  ]);
  assert.deepEqual(told.filter(([action]) => !String(action).startsWith('member.')).reverse(), [
    ['account.set_password', 'user', 'themselves', {}, 'nowhere'],
    [
      'session.create',
      'user',
      'themselves',
      records.find(({ action }) => action === 'session.create')?.changes,
      'nowhere',
    ],
  ]);
});

test('invitations are rate limited per hour, and more so to one address', async () => {
  const busy = await createTenant(app);
  const person = await joinTeam(app, busy.organizationGuid);
  const token = await dashboardToken(app, person, busy.organizationGuid);
  const invite = (email = 'again@partner.example') =>
    app.call({ method: 'POST', url: '/api/members', token, payload: { email, role: 'viewer' } });
  for (let i = 0; i < 10; i++) assert.equal((await invite()).status, 201);
  assertError(await invite(), 429, 'rate_limit_exceeded', /try again in/);
  for (let i = 0; i < 89; i++) assert.equal((await invite(`guest-${i}@partner.example`)).status, 201);
  const refused = await invite('another@partner.example');
  assertError(refused, 429, 'rate_limit_exceeded', /try again in/);
  assert.ok(Number(refused.headers['retry-after']) > 0);
});
