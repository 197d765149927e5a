import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertError, createTestApp } from '../../testing/app/app.ts';
import { createTenant, everyScope, tokenOf, userToken } from '../../testing/app/tenant.ts';
import { type AlertBody, alertsOf, alertTypesOf } from '../../testing/people/alerts.ts';
import { dashboardToken, joinTeam } from '../../testing/people/dashboard.ts';
import { ALERT_TYPES } from './kinds.ts';

const app = await createTestApp();
const DAY = 24 * 3_600_000;

test('creating, widening and removing a key are alerts; renaming and narrowing it are not', async () => {
  const { organizationGuid } = await createTenant(app);
  const person = await joinTeam(app, organizationGuid);
  const token = await dashboardToken(app, person, organizationGuid);
  const url = '/api/organization_applications';
  const allowlist = ['198.35.26.0/24'];
  const { body } = await app.call({
    ...{ method: 'POST', url, token },
    payload: { name: 'Ledger <b>', scopes: ['customers:read'], ip_allowlist: allowlist },
  });
  const key = `${url}/${body.client_id}`;
  const change = async (payload: object) => {
    const answer = await app.call({ method: 'PATCH', url: key, token, payload });
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
  };
  const changes = async () =>
    (await alertsOf(app, organizationGuid, { query: '&type=key.created,key.widened,key.removed' })).slice(2);
  await change({ name: 'Ledger' });
  await change({ ip_allowlist: ['198.35.26.96', '198.35.26.128/25'] });
  assert.deepEqual(
    (await changes()).map(({ title, message }) => [title, message]),
    [['Key "Ledger <b>" was created', `Created by ${person.email}. IP allowlist: 198.35.26.0/24.`]],
  );
  await change({ ip_allowlist: ['198.35.26.0/24'] });
  await change({ scopes: ['customers:read', 'trades:read'] });
  await change({ scopes: ['trades:read'] });
  await change({ ip_allowlist: [] });
  assert.equal((await app.call({ method: 'DELETE', url: key, token })).status, 204);
  assert.deepEqual(
    (await changes()).slice(1).map(({ message }) => message.replace(`by ${person.email}`, 'by')),
    [
      'Changed by. IP allowlist now: 198.35.26.0/24.',
      'Changed by. New scopes: trades:read.',
      'Changed by. IP allowlist now: any address.',
      'Removed by. Its tokens no longer work.',
    ],
  );
});

test('a refused change raises nothing', async () => {
  const { organizationGuid } = await createTenant(app);
  const before = (await alertsOf(app, organizationGuid)).length;
  const token = await userToken(app, organizationGuid);
  const payload = { name: 'Key', scopes: ['customers:read'], ip_allowlist: ['10.0.0.1'] };
  const answer = await app.call({ method: 'POST', url: '/api/organization_applications', token, payload });
  assert.equal(answer.status, 422);
  assert.equal((await alertsOf(app, organizationGuid)).length, before);
});

test('the first denied call of a key and day is an alert, on however many nodes', async () => {
  const other = await createTestApp({ testDatabase: app.testDatabase, clock: app.clock });
  const { organizationGuid, organizationKey } = await createTenant(app, { ipAllowlist: ['198.35.26.96'] });
  const denied = async () => {
    const token = await tokenOf(app, organizationKey, everyScope('organization'));
    const call = { url: '/api/customers', token, remoteAddress: '198.35.26.97' };
    for (let count = 0; count < 3; count++)
      for (const node of [app, other]) assertError(await node.call(call), 403, 'ip_not_allowed');
    await Promise.all([app, other].map(({ denials }) => denials.flush({ all: true })));
    return alertsOf(app, organizationGuid, { query: '&type=access.denied' });
  };
  const [alert] = await denied();
  assert.equal(alert?.title, 'Calls with key "Key" were denied by its IP allowlist');
  assert.deepEqual(
    [alert?.details.client_id, alert?.details.address],
    [organizationKey.clientId, '198.35.26.97'],
  );
  assert.equal((await denied()).length, 1);
  app.clock.advance(DAY);
  assert.equal((await denied()).length, 2);
});

test('a person who joins is an alert with their role', async () => {
  const { organizationGuid } = await createTenant(app);
  const { email } = await joinTeam(app, organizationGuid, { role: 'key_admin' });
  const [alert] = await alertsOf(app, organizationGuid, { query: '&type=member.joined' });
  assert.deepEqual([alert?.title, alert?.message], [`${email} joined the team`, 'Role: key admin.']);
});

test('keys see alerts without the email addresses of members', async () => {
  const { organizationGuid, organizationKey } = await createTenant(app);
  const person = await joinTeam(app, organizationGuid, { role: 'key_admin' });
  const { status } = await app.call({
    ...{ method: 'POST', url: '/api/organization_applications' },
    token: await dashboardToken(app, person, organizationGuid),
    payload: { name: 'Key', scopes: ['customers:read'], ip_allowlist: ['198.35.26.96'] },
  });
  assert.equal(status, 201);
  const token = await tokenOf(app, organizationKey, everyScope('organization'));
  const { body } = await app.call({ url: '/api/alerts?type=key.created,member.joined', token });
  const [created, joined] = body.objects as AlertBody[];
  assert.match(String(created?.message), new RegExp(`^Created by member ${person.memberGuid}\\.`));
  assert.equal(joined?.title, `Member ${person.memberGuid} joined the team`);
  assert.ok(!JSON.stringify(body).includes(person.email));
});

test('removing an authenticator app is an alert in every Organization of the person, and says who removed it', async () => {
  const [one, other] = [await createTenant(app), await createTenant(app)];
  const { memberGuid, email } = await joinTeam(app, one.organizationGuid);
  const person = { type: 'user', id: memberGuid } as const;
  const operator = { type: 'operator', id: 'operator' } as const;
  await app.database.transaction(async (transaction) => {
    const { organizationGuid } = other;
    await app.members.invite(transaction, operator, organizationGuid, { email, role: 'viewer' });
    await app.members.accept(transaction, person, { organizationGuid, memberGuid });
    for (const actor of [operator, person])
      await app.members.raiseFactorRemoved(transaction, actor, memberGuid, 'authenticator app');
  });
  for (const { organizationGuid } of [one, other]) {
    const alerts = await alertsOf(app, organizationGuid, { query: '&type=second_factor.removed' });
    assert.deepEqual(
      alerts.map(({ title }) => title),
      [`The operator removed a second factor of ${email}`, `${email} removed a second factor`],
    );
  }
});

test('roles and keys see the types of their scopes', async () => {
  const { organizationGuid, organizationKey } = await createTenant(app);
  const raise = (organization: string, environment?: 'sandbox' | 'production') =>
    app.database.transaction((transaction) =>
      app.alerts.raise(transaction, [
        {
          ...{ type: 'file.infected', organizationGuid: organization, environment },
          details: { file_guid: 'f'.repeat(32), file_type: 'passport', customer_guid: 'e'.repeat(32) },
        },
      ]),
    );
  await raise(organizationGuid, 'production');
  await raise(organizationGuid, 'sandbox');
  await raise((await createTenant(app)).organizationGuid, 'sandbox');
  const infected = ['file.infected', 'file.infected'];
  const created = ['key.created', 'key.created'];
  assert.deepEqual(await alertTypesOf(app, organizationGuid), [...created, ...infected]);
  assert.deepEqual(await alertTypesOf(app, organizationGuid, { role: 'viewer' }), infected);
  const query = '&environment=production';
  assert.deepEqual(await alertTypesOf(app, organizationGuid, { query }), ['key.created', 'file.infected']);
  const listed = async (scope: string) => {
    const token = await tokenOf(app, organizationKey, scope);
    const { body } = await app.call({ url: '/api/alerts', token });
    return (body.objects as { type: string }[]).map(({ type }) => type);
  };
  assert.deepEqual(await listed('organizations:read'), []);
  assert.deepEqual(await listed('organizations:read files:read'), ['file.infected'], 'of its environment');
  const security = await listed('organizations:read organization_applications:write');
  assert.deepEqual(security, created);
});

test('an unknown type is refused with the list of types', async () => {
  const { organizationGuid } = await createTenant(app);
  const token = await userToken(app, organizationGuid);
  const answer = await app.call({ url: '/api/alerts?type=endpoint.sad', token });
  assertError(
    answer,
    400,
    'invalid_parameter',
    `type must be one of ${ALERT_TYPES.join(', ')}; got endpoint.sad`,
  );
});

test('the bell counts the alerts that a member has not read, and marking as read never moves back', async () => {
  const tenant = await createTenant(app);
  app.clock.advance(1_000);
  const person = await joinTeam(app, tenant.organizationGuid);
  const token = await dashboardToken(app, person, tenant.organizationGuid);
  const unreadAlerts = async () => (await app.call({ url: '/api/unread_alerts', token })).body;
  const read = (guid: string) =>
    app.call({ method: 'PATCH', url: '/api/unread_alerts', token, payload: { read_through: guid } });
  assert.equal((await unreadAlerts()).unread, 1, 'what happened before the invitation is not new');
  await joinTeam(app, tenant.organizationGuid);
  const [first, second] = (await alertsOf(app, tenant.organizationGuid)).slice(-2);
  assert.ok(first && second);
  assert.equal((await unreadAlerts()).unread, 2);
  assert.equal((await read(first.guid)).body.unread, 1);
  assert.deepEqual((await read(second.guid)).body, { unread: 0, read_through: second.guid });
  assert.equal((await read(first.guid)).body.read_through, second.guid);
  assert.equal((await read('f'.repeat(32))).status, 200);
  app.clock.advance(61_000);
  await joinTeam(app, tenant.organizationGuid);
  assert.equal((await unreadAlerts()).unread, 1, 'the future cannot be marked as read');
});

test('a member turns emails of a type off; types of other roles are refused', async () => {
  const { organizationGuid } = await createTenant(app);
  const person = await joinTeam(app, organizationGuid, { role: 'developer' });
  const token = await dashboardToken(app, person, organizationGuid);
  const url = '/api/alert_preferences';
  const { body } = await app.call({ url, token });
  assert.deepEqual(body.email_types, body.available_types);
  assert.equal(body.email_available, false);
  assert.ok(!(body.available_types as string[]).includes('key.created'));
  const change = (emails: string[]) =>
    app.call({ method: 'PATCH', url, token, payload: { email_types: emails } });
  assert.deepEqual((await change(['file.infected'])).body.email_types, ['file.infected']);
  assertError(await change(['key.created']), 400, 'invalid_parameter', /not sent to your role/);
});

test('alerts of one type are limited to 100 a day, and all are deleted after the retention', async () => {
  const { organizationGuid } = await createTenant(app);
  const raise = () =>
    app.database.transaction((transaction) =>
      app.alerts.raise(transaction, [
        {
          ...{ type: 'key.removed', organizationGuid },
          details: { client_id: 'c', name: 'Key', actor_type: 'operator', actor: 'operator' },
        },
      ]),
    );
  for (let count = 0; count < 102; count++) await raise();
  const query = '&type=key.removed';
  assert.equal((await alertsOf(app, organizationGuid, { query })).length, 100);
  app.clock.advance(DAY + 1);
  await raise();
  assert.equal((await alertTypesOf(app, organizationGuid, { query: `${query}&page=1` })).length, 1);
  app.clock.advance(30 * DAY - 1);
  await app.alertsModule.sweep();
  assert.equal((await alertsOf(app, organizationGuid, { query })).length, 1);
});
