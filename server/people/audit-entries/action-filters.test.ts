import assert from 'node:assert/strict';
import { test } from 'node:test';
import { objectsOf } from '../../../testing/api/answers.ts';
import { assertError, createTestApp } from '../../../testing/app/app.ts';
import { createTenant } from '../../../testing/app/tenant.ts';
import { dashboardToken, joinTeam } from '../../../testing/people/dashboard.ts';
import { createSubscription } from '../../../testing/webhooks/subscriptions.ts';
import { OBJECT_TYPES } from '../../objects/types.ts';
import { ACTION_GROUPS } from './groups.ts';

const app = await createTestApp();
const tenant = await createTenant(app);
const founder = await joinTeam(app, tenant.organizationGuid);
const token = await dashboardToken(app, founder, tenant.organizationGuid);
const { guid } = await createSubscription(app, tenant, { name: 'Ledger' });
await app.call({ method: 'PATCH', url: `/api/subscriptions/${guid}`, token, payload: { name: 'New' } });
const list = (query: string) => app.call({ url: `/api/audit_entries?${query}`, token });
const actionsOf = async (query: string) => objectsOf(await list(query)).map(({ action }) => String(action));

test('a prefix finds all actions that begin with it, newest first', async () => {
  assert.deepEqual(await actionsOf('action=subscription.'), ['subscription.update', 'subscription.create']);
  assert.deepEqual(await actionsOf('action=member.,subscription.create'), [
    'subscription.create',
    'member.accept',
    'member.invite',
  ]);
  assert.deepEqual(await actionsOf('action=nothing.'), []);
  assert.deepEqual(await actionsOf('action=subscription'), []);
  const { body } = await list('action=subscription.&per_page=1');
  assert.deepEqual([body.total, (body.objects as object[]).length], [2, 1]);
  const next = await actionsOf(`action=subscription.&per_page=1&after=${body.next}`);
  assert.deepEqual(next, ['subscription.create']);
});

test('a group has the actions of all its prefixes', async () => {
  assert.deepEqual(await actionsOf('action_group=subscriptions'), [
    'subscription.update',
    'subscription.create',
  ]);
  assert.deepEqual(await actionsOf('action_group=team,subscriptions&per_page=3'), [
    'subscription.update',
    'subscription.create',
    'member.accept',
  ]);
  const keys = new Set(await actionsOf('action_group=keys'));
  assert.deepEqual(keys, new Set(['bank_application.create', 'organization_application.create']));
  assert.deepEqual(await actionsOf('action_group=files'), []);
  const updates = 'action_group=subscriptions&action=subscription.update,member.invite';
  assert.deepEqual(await actionsOf(updates), ['subscription.update']);
  assert.deepEqual(await actionsOf('action_group=files&action=subscription.update'), []);
  assertError(await list('action_group=keys,secrets'), 400, 'invalid_parameter', /must be one of keys/);
  const csv = await app.call({ url: '/api/audit_entries.csv?action_group=secrets', token });
  assertError(csv, 400, 'invalid_parameter');
  assert.equal(ACTION_GROUPS.objects.length, OBJECT_TYPES.length);
});

test('changes of alerts and inboxes are in a group', async () => {
  for (const [url, payload] of [
    ['/api/alert_settings', { waiting_threshold: 10 }],
    ['/api/alert_preferences', { email_types: [] }],
  ] as const)
    assert.equal((await app.call({ method: 'PATCH', url, token, payload })).status, 200, url);
  const inbox = await app.call({ method: 'POST', url: '/api/inboxes', token, payload: { name: 'Try' } });
  assert.equal(inbox.status, 201, JSON.stringify(inbox.body));
  assert.deepEqual(await actionsOf('action_group=alerts'), [
    'alert_preferences.update',
    'alert_settings.update',
  ]);
  assert.deepEqual(await actionsOf('action_group=subscriptions&per_page=1'), ['inbox.create']);
});

test('actions of another Organization are not among those of a prefix', async () => {
  const other = await createTenant(app);
  const stranger = await joinTeam(app, other.organizationGuid);
  const theirs = await dashboardToken(app, stranger, other.organizationGuid);
  const answer = await app.call({ url: '/api/audit_entries?action=subscription.', token: theirs });
  assert.deepEqual(objectsOf(answer), []);
});

test('the operator filters the records of all Organizations by prefix', async () => {
  const found = objectsOf(await app.operate('GET', '/audit_records?action=subscription.'));
  assert.deepEqual(
    found.map(({ action }) => action),
    ['subscription.update', 'subscription.create'],
  );
});
