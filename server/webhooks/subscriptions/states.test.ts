import assert from 'node:assert/strict';
import { test } from 'node:test';
import { objectsOf } from '../../../testing/api/answers.ts';
import { assertError, createTestApp } from '../../../testing/app/app.ts';
import { createTenant } from '../../../testing/app/tenant.ts';
import { createSubscription, founderOf, setMoments } from '../../../testing/webhooks/subscriptions.ts';
import { type Moments, stateOf } from './state.ts';

/** The state is derived from timestamps (contract, section 7). */
const app = await createTestApp();
const HOUR = 3_600_000;

const NONE: Moments = { activated_at: null, failed_at: null, scheduled_deletion_at: null, deleted_at: null };

test('the state is the last of storing, active, failed, deleting, deleted that applies', () => {
  const now = new Date('2026-11-15T12:00:00Z');
  const [earlier, later] = [new Date(now.getTime() - 1), new Date(now.getTime() + 1)];
  for (const [moments, state] of [
    [{}, 'storing'],
    [{ activated_at: earlier }, 'active'],
    [{ failed_at: earlier }, 'failed'],
    [{ activated_at: earlier, failed_at: earlier }, 'failed'],
    [{ scheduled_deletion_at: later }, 'deleting'],
    [{ failed_at: earlier, scheduled_deletion_at: later }, 'deleting'],
    [{ scheduled_deletion_at: now }, 'deleted'],
    [{ scheduled_deletion_at: earlier }, 'deleted'],
    [{ scheduled_deletion_at: earlier, deleted_at: now }, 'deleted'],
    [{ deleted_at: now }, 'deleted'],
  ] as const)
    assert.equal(stateOf({ ...NONE, ...moments }, now), state, JSON.stringify(moments));
});

test('view, filter and limit agree for every combination of timestamps', async () => {
  const past = new Date(app.clock.now().getTime() - HOUR);
  const future = new Date(app.clock.now().getTime() + HOUR);
  const tenants = new Map<string, string[]>();
  for (const activated_at of [null, past])
    for (const failed_at of [null, past])
      for (const scheduled_deletion_at of [null, past, app.clock.now(), future])
        for (const deleted_at of [null, past]) {
          const tenant = await createTenant(app);
          const { guid } = await createSubscription(app, tenant);
          const moments = { activated_at, failed_at, scheduled_deletion_at, deleted_at };
          await setMoments(app, guid, moments);
          const expected = stateOf(moments, app.clock.now());
          const founder = founderOf(app, tenant);
          const listed = objectsOf(await founder('GET')).map(({ state }) => state);
          assert.deepEqual(listed, expected === 'deleted' ? [] : [expected]);
          const got = await founder('GET', `/${guid}`);
          assert.equal(got.status === 404 ? 'deleted' : got.body.state, expected);
          for (const state of ['storing', 'active', 'failed', 'deleting', 'deleted']) {
            const { body } = await founder('GET', `?state=${state}`);
            assert.equal(body.total, state === expected && state !== 'deleted' ? 1 : 0, state);
          }
          tenants.set(expected, [...(tenants.get(expected) ?? []), guid]);
        }
  assert.equal(tenants.size, 5, 'all states came up');
});

test('a subscription is deleted at its time, even before the cluster task ran', async () => {
  const tenant = await createTenant(app);
  const founder = founderOf(app, tenant);
  const { guid } = await createSubscription(app, tenant);
  await founder('DELETE', `/${guid}`);
  app.clock.advance(24 * HOUR - 1);
  assert.equal((await founder('GET', `/${guid}`)).body.state, 'deleting');
  app.clock.advance(1);
  const absent = await founder('GET', `/${'0'.repeat(32)}`);
  for (const answer of [
    await founder('GET', `/${guid}`),
    await founder('DELETE', `/${guid}`),
    await founder('PATCH', `/${guid}`, { name: 'x' }),
    await app.operate('GET', `/subscriptions/${guid}`),
    await app.operate('PATCH', `/subscriptions/${guid}`, { disabled: true }),
  ]) {
    assertError(answer, 404, 'not_found');
    assert.deepEqual(answer.body, absent.body);
  }
  const path = `/organizations/${tenant.organizationGuid}/subscriptions`;
  assert.deepEqual([...objectsOf(await founder('GET')), ...objectsOf(await app.operate('GET', path))], []);
});

test('optional timestamps are omitted when empty', async () => {
  const tenant = await createTenant(app);
  const { guid } = await createSubscription(app, tenant);
  const since = app.clock.now();
  const show = async () => (await founderOf(app, tenant)('GET', `/${guid}`)).body;
  assert.ok(!('deliveries_failing_since' in (await show())) && !('scheduled_deletion_at' in (await show())));
  await setMoments(app, guid, { deliveries_failing_since: since });
  assert.equal((await show()).deliveries_failing_since, since.toISOString());
});
