import assert from 'node:assert/strict';
import { test } from 'node:test';
import { auditRecordsOf, objectsOf, soleRecord } from '../../../testing/api/answers.ts';
import { assertError, createTestApp } from '../../../testing/app/app.ts';
import { createTenant } from '../../../testing/app/tenant.ts';
import {
  createSubscription,
  eventTypesOf,
  founderOf,
  setMoments,
} from '../../../testing/webhooks/subscriptions.ts';

/** GET and PATCH of subscriptions (contract, sections 5 and 7). */
const app = await createTestApp();
const tenant = await createTenant(app);
const founder = founderOf(app, tenant);
const START = app.clock.now().getTime();
const MINUTE = 60_000;

const guids: Record<string, string> = {};
for (const [name, environment] of [
  ['A', 'sandbox'],
  ['B', 'production'],
  ['C', 'sandbox'],
  ['D', 'production'],
] as const) {
  guids[name] = (await createSubscription(app, tenant, { name, environment })).guid;
  app.clock.advance(MINUTE);
}
await setMoments(app, guids.A ?? '', { activated_at: app.clock.now() });
await setMoments(app, guids.B ?? '', { failed_at: app.clock.now() });
await createSubscription(app, await createTenant(app), { name: 'of another tenant' });

const names = async (query = '') => {
  const objects = objectsOf(await founder('GET', `?${query}`));
  return objects.map(({ name }) => name).join('');
};
const at = (minutes: number) => new Date(START + minutes * MINUTE).toISOString();

test('a user token sees both environments of its Organization, newest first', async () => {
  assert.equal(await names(), 'DCBA');
  const { body } = await founder('GET', '?per_page=3');
  assert.deepEqual(
    { ...body, objects: undefined },
    { total: 4, page: 0, per_page: 3, objects: undefined, next: guids.B },
  );
  assert.equal(await names(`per_page=3&after=${body.next}`), 'A');
  assert.equal(await names('per_page=3&page=1'), 'A');
});

test('filters are guid, type, state, environment and the times of creation and change', async () => {
  for (const [query, expected] of [
    [`guid=${guids.A},${guids.D}`, 'DA'],
    ['state=storing', 'DC'],
    ['state=active,failed', 'BA'],
    ['state=deleting', ''],
    ['state=completed', 'A'],
    ['state=completed&state=failed', 'BA'],
    ['type=webhook', 'DCBA'],
    ['environment=production', 'DB'],
    ['environment=production,sandbox', 'DCBA'],
    [`created_at_gte=${at(1)}&created_at_lt=${at(3)}`, 'CB'],
    [`updated_at_gte=${at(1)}&updated_at_lt=${at(3)}`, 'CB'],
    [`created_at_gte=${at(0).slice(0, 10)}`, 'DCBA'],
    [`created_at_lt=${at(0).slice(0, 10)}`, ''],
    [`state=storing&environment=sandbox`, 'C'],
  ] as const)
    assert.equal(await names(query), expected, query);
});

test('an unknown type or state is refused by name', async () => {
  for (const [query, message] of [
    ['type=email', /^type must be webhook; got email$/],
    ['state=completed,x', /^state must be one of storing, .*; got x$/],
  ] as const)
    assertError(await founder('GET', `?${query}`), 400, 'invalid_parameter', message);
});

test('a single subscription has the fields of the list', async () => {
  for (const item of objectsOf(await founder('GET')))
    assert.deepEqual((await founder('GET', `/${item.guid}`)).body, item);
});

test('a subscription of another tenant is not found, with the same message', async () => {
  const stranger = founderOf(app, await createTenant(app));
  const absent = (await stranger('GET', `/${'0'.repeat(32)}`)).body;
  for (const answer of [
    await stranger('GET', `/${guids.A}`),
    await stranger('PATCH', `/${guids.A}`, { name: 'Mine' }),
    await stranger('DELETE', `/${guids.A}`),
  ]) {
    assertError(answer, 404, 'not_found');
    assert.deepEqual(answer.body, absent);
  }
  assert.equal((await stranger('GET', `?guid=${guids.A}`)).body.total, 0);
  assert.equal((await founder('GET', `/${guids.A}`)).body.name, 'A');
});

test('a new name is shown and has an audit record but no event', async () => {
  const { guid } = await createSubscription(app, tenant, { name: 'Old' });
  const { body: before } = await founder('GET', `/${guid}`);
  app.clock.advance(MINUTE);
  const { status, body } = await founder('PATCH', `/${guid}`, { name: 'New' });
  assert.equal(status, 200);
  assert.deepEqual(body, { ...before, name: 'New', updated_at: app.clock.now().toISOString() });
  assert.deepEqual((await founder('GET', `/${guid}`)).body, body);
  const record = soleRecord(await auditRecordsOf(app, guid, 'subscription.update'));
  assert.deepEqual([record.actor_type, record.changes], ['user', { name: 'New' }]);
  assert.deepEqual(await eventTypesOf(app, guid), ['subscription.storing']);

  app.clock.advance(MINUTE);
  for (const payload of [{}, { name: 'New' }])
    assert.deepEqual((await founder('PATCH', `/${guid}`, payload)).body, body);
  assert.equal((await auditRecordsOf(app, guid)).length, 2, 'a change of nothing is no change');
});

test('fields other than name and a valid url are refused', async () => {
  for (const name of ['url', 'environment', 'type', 'protection_enabled', 'disabled', 'signing_key', 'state'])
    assertError(
      await founder('PATCH', `/${guids.A}`, { [name]: 'x' }),
      400,
      'invalid_parameter',
      new RegExp(`^${name} `),
    );
});

test('a state that does not exist is refused, by both lists', async () => {
  const expected = [400, 'invalid_parameter', /^state must be one of .* paused$/] as const;
  assertError(await founder('GET', '?state=active,paused'), ...expected);
  const operated = `/organizations/${tenant.organizationGuid}/subscriptions?state=paused`;
  assertError(await app.operate('GET', operated), ...expected);
});
