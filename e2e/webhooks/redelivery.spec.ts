import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTenant } from '../../testing/app/tenant.ts';
import { insertDeliveries } from '../../testing/webhooks/deliveries.ts';
import { publishEvents } from '../../testing/webhooks/events.ts';
import { createSubscription, founderOf, setMoments } from '../../testing/webhooks/subscriptions.ts';
import { createTestEndpoint } from '../../testing/webhooks/test-endpoint.ts';
import { setDisabled, until } from '../../testing/webhooks/webhooks.ts';
import { assertAccessible } from '../support/accessibility.ts';
import { navigate, poll } from '../support/pages.ts';
import { enterAs } from '../support/people.ts';
import { app, pages, site } from '../support/suite.ts';

/** Redeliveries progress only when a test says so: no other spec of this test file may start the dispatcher. */
const HOUR_MS = 3_600_000;
/** More than one step of the server, which is 500. */
const FAILED = 520;

test('a redelivery is previewed, started, cancelled, and kept in the history', async () => {
  const tenant = await createTenant(app);
  const receiver = await createTestEndpoint();
  const subscription = await createSubscription(app, tenant, {
    ...{ url: receiver.url, name: 'Ledger', active: true },
  });
  const ago = (ms: number) => new Date(app.clock.now().getTime() - ms);
  const failed = (created_at: Date) => ({ ended: 'failed' as const, created_at });
  const waiting = { created_at: ago(HOUR_MS), attempt_count: 4, dueAt: new Date(ago(-HOUR_MS)) };
  const [first = ''] = await insertDeliveries(app, tenant, subscription, [
    { ...waiting, response_status: 429 },
    ...Array.from({ length: 20 }, () => waiting),
    failed(ago(3 * HOUR_MS)),
    ...Array.from({ length: FAILED }, () => failed(ago(HOUR_MS))),
  ]);
  await postponeByRetryAfter(first);
  app.clock.advance(1_000);
  const page = await pages.open();
  const person = await enterAs(page, site, tenant, 'founder');
  await page.goto('/events');
  await page.getByRole('button', { name: 'Redeliver events' }).click();
  const dialog = page.getByRole('dialog');
  const isRunning = dialog.locator('[data-state=running]');
  assert.ok(await dialog.getByRole('button', { name: 'Redeliver', exact: true }).isDisabled());
  await dialog.getByRole('combobox', { name: 'Subscription' }).click();
  await page.getByRole('option', { name: 'Ledger' }).click();

  const [from, to] = [dialog.getByLabel('From'), dialog.getByLabel('Until')];
  await from.fill(inputValue(ago(-HOUR_MS)));
  await dialog.getByText('From must be in the past').waitFor();
  await from.fill(inputValue(ago(2 * HOUR_MS)));
  await to.fill(inputValue(ago(2 * HOUR_MS)));
  await dialog.getByText('Until must be later than From').waitFor();
  await to.fill(inputValue(ago(90 * 60_000)));
  await dialog.getByText('0 failed for good · 0 still retried automatically').waitFor();
  assert.ok(await dialog.getByRole('button', { name: 'Redeliver', exact: true }).isDisabled());
  await to.fill('');
  await dialog.getByText(`${FAILED} failed for good · 22 still retried automatically`).waitFor();
  await dialog.getByText('The webhook-id stays the same').waitFor();
  await assertAccessible(page, 'redelivery dialog');
  await dialog.getByRole('button', { name: `Redeliver ${FAILED}` }).click();
  await dialog.getByText(`0 of ${FAILED} processed`).waitFor();
  await app.redeliveries.step();
  await poll(page);
  await dialog.getByText(`500 of ${FAILED} processed`).waitFor();
  await dialog.getByText('The redelivery continues in the background').waitFor();
  await dialog.getByRole('button', { name: 'Cancel redelivery' }).click();
  await dialog.getByText(`Cancelled after 500 of ${FAILED} · 500 queued`).waitFor();
  await dialog.getByRole('button', { name: 'Close' }).last().click();

  await navigate(page, `/subscriptions/${subscription.guid}`);
  const history = page.getByRole('table', { name: 'Redeliveries' });
  const newest = history.getByRole('row').nth(1);
  await newest.filter({ hasText: 'Redeliver failed deliveries' }).filter({ hasText: person.email }).waitFor();
  await newest.locator('[data-state=cancelled]').waitFor();

  const open = () => page.getByRole('button', { name: 'Redeliver events' }).click();
  await open();
  await dialog.getByText('21 failed for good · 22 still retried automatically').waitFor();
  await dialog.getByRole('radio', { name: 'Retry waiting deliveries now' }).click();
  await dialog.getByText('Postponed by your endpoint with Retry-After: 1, not sent earlier.').waitFor();
  await dialog.getByRole('button', { name: 'Retry 20 now' }).click();
  await isRunning.waitFor();
  await runRedeliveries();
  await poll(page);
  await dialog.getByText('20 retried · 2 skipped').waitFor();
  await dialog.locator('[data-state=completed]').waitFor();
  await dialog.getByRole('button', { name: 'Close' }).last().click();

  await open();
  await dialog.getByRole('button', { name: 'Redeliver 21' }).click();
  await isRunning.waitFor();
  await dialog.getByRole('button', { name: 'Close' }).last().click();
  const bar = newest.getByRole('progressbar');
  await newest.locator('[data-state=running]').waitFor();
  assert.equal(await bar.getAttribute('aria-valuenow'), '0');
  await newest.getByRole('button', { name: 'Cancel redelivery' }).waitFor();
  await runRedeliveries();
  await poll(page);
  await newest.getByText('21 queued · 500 skipped').waitFor();
  assert.equal(await bar.getAttribute('aria-valuenow'), '100');

  const replay = async () => {
    await open();
    await dialog.getByRole('radio', { name: 'Replay all events' }).click();
    await dialog.getByText('Sends 2 events again, also those already delivered').waitFor();
    await dialog.getByRole('button', { name: 'Replay 2 events' }).click();
    await isRunning.waitFor();
    await runRedeliveries();
    await poll(page);
  };
  await replay();
  await dialog.getByText('1 queued · 1 skipped').waitFor();
  await dialog.getByRole('button', { name: 'Close' }).last().click();
  await replay();
  // Both still wait to be delivered: a job that sends nothing is no success.
  await dialog.getByText('Nothing to redeliver').waitFor();
  await dialog.locator('[data-state=empty]').waitFor();
  assert.equal(await dialog.getByRole('progressbar').count(), 0);
  await dialog.getByRole('button', { name: 'Close' }).last().click();
  await newest.getByText('Nothing to redeliver').waitFor();
  await assertAccessible(page, 'history of redeliveries');

  await app.dispatcher.start();
  await until(async () => {
    await app.dispatcher.drain();
    return receiver.received.length >= FAILED + 23;
  }, 'the redeliveries and the retried deliveries');
  await app.dispatcher.stop();

  await navigate(page, '/deliveries?state=completed');
  await page.getByRole('button', { name: 'View attempts' }).first().click();
  await dialog.getByText(person.email).first().waitFor();
  await dialog.getByRole('link', { name: 'redelivery of many events' }).first().click();
  await page.waitForURL(/redelivery=[0-9a-f]{32}/);
  await history.getByRole('row').nth(1).filter({ hasText: person.email }).waitFor();
  assert.equal(await history.getByRole('row').count(), 2);
  await page.getByRole('button', { name: 'Show all' }).click();
  await history.getByRole('row').nth(2).waitFor();
});

for (const role of ['founder', 'developer'] as const)
  test(`a ${role} can redeliver only to subscriptions that deliver`, async () => {
    const tenant = await createTenant(app);
    const active = await createSubscription(app, tenant, { name: 'Active' });
    const other = await createSubscription(app, tenant, { name: 'Other' });
    const [event] = await publishEvents(app, tenant);
    const page = await pages.open();
    await enterAs(page, site, tenant, role);
    const label = ({ name }: Record<string, unknown>) => String(name);
    const row = page.getByRole('row').filter({ has: page.getByRole('button', { name: 'Attempts' }) });
    const drawer = page.getByRole('dialog');

    /** Checks the menu of the event, and the drawer of the delivery to the other subscription. */
    async function assertRedeliverable(expected: readonly Record<string, unknown>[]): Promise<void> {
      await page.getByRole('button', { name: 'Redeliver' }).click();
      await page.getByRole('menuitem', { name: label(active) }).waitFor();
      await poll(page);
      const isOtherShown = expected.includes(other) ? 'visible' : 'detached';
      await page.getByRole('menuitem', { name: label(other) }).waitFor({ state: isOtherShown });
      const isComplete = async () => (await page.getByRole('menuitem').count()) === expected.length;
      await until(isComplete, `${expected.length} subscriptions in the menu`);
      await page.keyboard.press('Escape');
      // The newer delivery is listed first.
      await row.first().getByRole('button', { name: 'Attempts' }).click();
      const isExpected = expected.includes(other);
      if (isExpected) await drawer.getByRole('button', { name: 'Redeliver' }).waitFor();
      else {
        await drawer.getByText('You cannot redeliver this event').waitFor();
        assert.equal(await drawer.getByRole('button', { name: 'Redeliver' }).count(), 0);
      }
      await page.keyboard.press('Escape');
      await drawer.waitFor({ state: 'detached' });
    }

    await page.goto(`/events/${event}`);
    await assertRedeliverable([active, other]);
    await setDisabled(app, other, true);
    await assertRedeliverable([active]);
    await setDisabled(app, other, false);
    await assertRedeliverable([active, other]);
    await founderOf(app, tenant)('DELETE', `/${other.guid}`);
    await assertRedeliverable([active, other]);
    await setMoments(app, other.guid, { failed_at: app.clock.now() });
    await assertRedeliverable([active]);
    await setMoments(app, other.guid, { failed_at: null });
    await assertRedeliverable([active, other]);
    await setMoments(app, other.guid, { scheduled_deletion_at: app.clock.now() });
    await assertRedeliverable([active]);
  });

test('Older, pressed twice while the page loads, turns one page of redeliveries', async () => {
  const tenant = await createTenant(app);
  const { guid } = await createSubscription(app, tenant);
  const page = await pages.open();
  await enterAs(page, site, tenant, 'founder');
  const at = app.clock.now().toISOString();
  const redelivery = {
    ...{ guid: '1'.repeat(32), subscription_guid: guid, kind: 'failed', state: 'completed' },
    ...{ total: 1, done: 1, since: at, until: at, created_at: at },
  };
  const released = Promise.withResolvers<void>();
  await page.route('**/api/subscription_recoveries?*', async (route) => {
    const isFirst = !new URL(route.request().url()).searchParams.has('after');
    if (!isFirst) await released.promise;
    const list = { total: 6, page: 1, per_page: 5, objects: [redelivery] };
    await route.fulfill({ json: isFirst ? { ...list, next: guid } : list });
  });
  await page.goto(`/subscriptions/${guid}`);
  const pager = page.getByRole('navigation', { name: 'Pages of redeliveries' });
  await pager.getByRole('button', { name: 'Older' }).dblclick();
  released.resolve();
  await pager.getByRole('button', { name: 'Older', disabled: true }).waitFor();
  await pager.getByRole('button', { name: 'Newer' }).click();
  await pager.getByRole('button', { name: 'Newer', disabled: true }).waitFor();
});

/** As after a 429 with Retry-After. */
async function postponeByRetryAfter(guid: string): Promise<void> {
  const scheduled_at = 'infinity' as unknown as Date;
  const queued = app.database.queries.updateTable('delivery_queue').set({ scheduled_at });
  await queued.where('delivery_guid', '=', guid).execute();
}

async function runRedeliveries(): Promise<void> {
  while (await app.redeliveries.step());
}

/** The value of a datetime-local input; the browser runs in UTC. */
function inputValue(date: Date): string {
  return date.toISOString().slice(0, 16);
}
