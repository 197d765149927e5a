import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { sql } from 'kysely';
import { createTestApp, type TestApp } from '../../../testing/app/app.ts';
import { createTenant } from '../../../testing/app/tenant.ts';
import { createTestDatabase } from '../../../testing/database/database.ts';
import { lockWaits } from '../../../testing/database/locks.ts';
import {
  createSubscription,
  founderOf,
  MOMENTS,
  setMoments,
} from '../../../testing/webhooks/subscriptions.ts';
import { setDisabled, until } from '../../../testing/webhooks/webhooks.ts';
import type { EndpointEffect } from './service.ts';

/** Effects of outcomes on subscriptions: activation, failing, recovery (contract, section 7). */
const testDatabase = await createTestDatabase();
const app = await createTestApp({ testDatabase });
const other = await createTestApp({ testDatabase, clock: app.clock });
after(() => testDatabase.drop());

const tenant = await createTenant(app);
const URL = 'https://partner.example/hook';
const T = (seconds: number) => new Date(app.clock.now().getTime() + seconds * 1_000);

const note = (outcomes: readonly EndpointEffect[], node: TestApp = app) =>
  node.database.transaction((transaction) => node.subscriptions.applyOutcomes(transaction, outcomes));
const succeeded = (guid: string, at: Date, failingSince?: Date): EndpointEffect => ({
  ...{ guid, succeededAt: at, failingSince, at: failingSince ?? at, url: URL },
});
const failed = (guid: string, failingSince: Date): EndpointEffect => ({
  ...{ guid, succeededAt: undefined, failingSince, at: failingSince, url: URL },
});

/** A subscription in its own tenant: its timestamps and row version. */
async function fresh(moments: Parameters<typeof setMoments>[2] = {}) {
  const { guid } = await createSubscription(app, await createTenant(app));
  await setMoments(app, guid, moments);
  return guid;
}
async function momentsOf(guid: string) {
  const row = await app.database.queries
    .selectFrom('subscriptions')
    .select(MOMENTS)
    .where('guid', '=', guid)
    .executeTakeFirstOrThrow();
  return Object.fromEntries(Object.entries(row).filter(([, moment]) => moment !== null));
}
async function versionOf(guid: string): Promise<string> {
  const { rows } = await sql<{ version: string }>`
    select xmin || '/' || xmax || '/' || ctid as version from subscriptions where guid = ${guid}`.execute(
    app.database.queries,
  );
  return String(rows[0]?.version);
}

test('the first success sets activated_at, later ones do not change it', async () => {
  const created = await createSubscription(app, tenant);
  await note([succeeded(created.guid, T(1))]);
  const { body } = await founderOf(app, tenant)('GET', `/${created.guid}`);
  assert.deepEqual([body.state, body.updated_at], ['active', T(1).toISOString()]);
  await note([succeeded(created.guid, T(2))]);
  assert.deepEqual(await momentsOf(created.guid), { activated_at: T(1) });
});

test('deliveries_failing_since is the first failure until a success clears it and sets recovered_at', async () => {
  const guid = await fresh();
  await note([failed(guid, T(1))]);
  await note([failed(guid, T(5))]);
  assert.deepEqual(await momentsOf(guid), { deliveries_failing_since: T(1) });
  await note([succeeded(guid, T(9))]);
  assert.deepEqual(await momentsOf(guid), { activated_at: T(9), recovered_at: T(9) });
  await note([failed(guid, T(11))]);
  assert.deepEqual(await momentsOf(guid), {
    ...{ activated_at: T(9), recovered_at: T(9), deliveries_failing_since: T(11) },
  });
});

test('a failure before the end of a pause or before a new URL does not count, even if it is recorded later', async () => {
  const guid = await fresh({ retries_early_before: T(5) });
  await note([failed(guid, T(4))]);
  await note([succeeded(guid, T(2), T(3))]);
  const before = { activated_at: T(2), retries_early_before: T(5) };
  assert.deepEqual(await momentsOf(guid), before);
  await note([{ ...failed(guid, T(4)), at: T(6) }]);
  assert.deepEqual(await momentsOf(guid), { ...before, deliveries_failing_since: T(5) });
});

test('a failure before a subscription was enabled or resumed does not count, even if it is recorded later', async () => {
  const owner = await createTenant(app);
  const { guid } = await createSubscription(app, owner);
  const restarts = [
    (stops: boolean) => setDisabled(app, { guid }, stops),
    (stops: boolean) => founderOf(app, owner)('PATCH', `/${guid}`, { paused: stops }),
  ];
  for (const restart of restarts) {
    const before = T(0);
    app.clock.advance(1_000);
    await restart(true);
    await restart(false);
    await note([failed(guid, before)]);
    assert.equal((await momentsOf(guid)).deliveries_failing_since, undefined);
  }
});

test('a success that is recorded after later failures does not end them', async () => {
  const guid = await fresh({ deliveries_failing_since: T(9) });
  await note([succeeded(guid, T(4))]);
  assert.deepEqual(await momentsOf(guid), { activated_at: T(4), deliveries_failing_since: T(9) });
  await note([succeeded(guid, T(9))]);
  assert.deepEqual(await momentsOf(guid), { activated_at: T(4), recovered_at: T(9) });
  await note([failed(guid, T(8))]);
  assert.deepEqual(await momentsOf(guid), { activated_at: T(4), recovered_at: T(9) });
});

test('a success without earlier failures does not set recovered_at', async () => {
  const guid = await fresh();
  await note([succeeded(guid, T(1))]);
  await note([succeeded(guid, T(2), T(3))]);
  assert.deepEqual(await momentsOf(guid), { activated_at: T(1), deliveries_failing_since: T(3) });
});

test('failures after a success restart deliveries_failing_since', async () => {
  const guid = await fresh({ deliveries_failing_since: T(-600) });
  await note([succeeded(guid, T(1), T(2))]);
  assert.deepEqual(await momentsOf(guid), {
    ...{ activated_at: T(1), recovered_at: T(1), deliveries_failing_since: T(2) },
  });
});

test('several subscriptions are updated in one call', async () => {
  const guids = await Promise.all(
    Array.from({ length: 4 }, () => fresh({ deliveries_failing_since: T(-9) })),
  );
  const [a = '', b = '', c = '', d = ''] = guids;
  await note([failed(d, T(1)), succeeded(a, T(2)), succeeded(c, T(3), T(4))]);
  assert.deepEqual(await momentsOf(a), { activated_at: T(2), recovered_at: T(2) });
  assert.deepEqual(await momentsOf(b), { deliveries_failing_since: T(-9) });
  assert.deepEqual(await momentsOf(c), {
    ...{ activated_at: T(3), recovered_at: T(3), deliveries_failing_since: T(4) },
  });
  assert.deepEqual(await momentsOf(d), { deliveries_failing_since: T(-9) });
  await note([]);
  await note([succeeded('0'.repeat(32), T(1))]);
});

test('an unchanged row is neither written nor locked', async () => {
  const active = await fresh({ activated_at: T(-60) });
  const failing = await fresh({ activated_at: T(-60), deliveries_failing_since: T(-9) });
  const before = [await versionOf(active), await versionOf(failing)];
  await note([succeeded(active, T(1)), failed(failing, T(1))]);
  assert.deepEqual([await versionOf(active), await versionOf(failing)], before);
  await note([succeeded(failing, T(2))]);
  assert.notEqual(await versionOf(failing), before[1]);
});

test('outcomes of failed and deleted subscriptions are ignored, of disabled and deleting ones applied', async () => {
  for (const moments of [
    { failed_at: T(-1), deliveries_failing_since: T(-9) },
    { deleted_at: T(-1), deliveries_failing_since: T(-9) },
    { scheduled_deletion_at: T(1), deliveries_failing_since: T(-9) },
  ]) {
    const guid = await fresh(moments);
    await note([succeeded(guid, T(1))]);
    assert.deepEqual(await momentsOf(guid), moments);
  }
  for (const moments of [{ disabled_at: T(-1) }, { scheduled_deletion_at: T(2) }]) {
    const guid = await fresh(moments);
    await note([failed(guid, T(1))]);
    assert.deepEqual(await momentsOf(guid), { ...moments, deliveries_failing_since: T(1) });
  }
});

test('rows are locked in guid order', async () => {
  const [low, high] = [await fresh(), await fresh()];
  await setMoments(app, low, { recovered_at: T(-60) });
  let noting: Promise<unknown> | undefined;
  await app.database.transaction(async (transaction) => {
    const locking = transaction.selectFrom('subscriptions').select('guid').forUpdate().skipLocked();
    assert.equal((await locking.where('guid', '=', low).execute()).length, 1);
    noting = note([failed(high, T(1)), failed(low, T(1))], other);
    await until(async () => (await lockWaits(app.database.queries)) > 0, 'an update that waits for a lock');
    assert.equal((await locking.where('guid', '=', high).execute()).length, 1, 'the later one is still free');
  });
  await noting;
  for (const guid of [low, high]) assert.deepEqual((await momentsOf(guid)).deliveries_failing_since, T(1));
});

test('two nodes that update the same subscriptions in different order do not deadlock', async () => {
  const guids = await Promise.all(Array.from({ length: 6 }, () => fresh()));
  for (let round = 0; round < 15; round++) {
    const outcomes = guids.map((guid) => (round % 2 ? failed(guid, T(round)) : succeeded(guid, T(round))));
    await Promise.all([
      note(outcomes, app),
      note(outcomes.toReversed(), other),
      note(outcomes.toReversed(), app),
      note(outcomes, other),
    ]);
  }
  for (const guid of guids) assert.deepEqual((await momentsOf(guid)).activated_at, T(0));
});
