import assert from 'node:assert/strict';
import { test } from 'node:test';
import { insertDeliveries } from '../../testing/deliveries.ts';
import { publishEvents } from '../../testing/events.ts';
import { createSubscription, founderOf, setMoments } from '../../testing/subscriptions.ts';
import { createTenant } from '../../testing/tenant.ts';
import { createTestEndpoint } from '../../testing/test-endpoint.ts';
import { setDisabled, until } from '../../testing/webhooks.ts';
import { poll } from '../support/pages.ts';
import { enterAs } from '../support/people.ts';
import { app, pages, site } from '../support/suite.ts';

/** Redeliveries progress only when a test says so: no other spec of this test file may start the dispatcher. */
const HOUR_MS = 3_600_000;
/** More than one step of the server, which is 500. */
const FAILED = 520;

test('failed deliveries since a time are redelivered, with progress', async () => {
  const tenant = await createTenant(app);
  const receiver = await createTestEndpoint();
  const subscription = await createSubscription(app, tenant, { url: receiver.url, name: 'Ledger' });
  const ago = (ms: number) => new Date(app.clock.now().getTime() - ms);
  const failed = (created_at: Date) => ({ ended: 'failed' as const, created_at });
  await insertDeliveries(app, tenant, subscription, [
    failed(ago(3 * HOUR_MS)),
    ...Array.from({ length: FAILED }, () => failed(ago(HOUR_MS))),
  ]);
  const page = await pages.open();
  await enterAs(page, site, tenant, 'founder');
  await page.goto('/events');
  await page.getByRole('button', { name: 'Redeliver failed' }).click();
  const dialog = page.getByRole('dialog');
  const redeliver = dialog.getByRole('button', { name: 'Redeliver' });
  assert.ok(await redeliver.isDisabled(), 'no subscription selected');
  await dialog.getByRole('combobox', { name: 'Subscription' }).click();
  await page.getByRole('option', { name: 'Ledger' }).click();

  const since = dialog.getByLabel('Failed since');
  await since.fill(inputValue(new Date(app.clock.now().getTime() + HOUR_MS)));
  await dialog.getByText('Choose a time in the past').waitFor();
  assert.ok(await redeliver.isDisabled());
  await since.fill(inputValue(ago(2 * HOUR_MS)));
  await redeliver.click();
  await dialog.getByText(`0 of ${FAILED} redelivered`).waitFor();
  const progress = dialog.getByRole('progressbar');
  assert.equal(await progress.getAttribute('aria-valuenow'), '0');
  await app.redeliveries.step();
  await poll(page);
  await dialog.getByText(`500 of ${FAILED} redelivered`).waitFor();
  await dialog.getByText('The redelivery continues in the background').waitFor();
  while (await app.redeliveries.step());
  await poll(page);
  await dialog.getByText(`${FAILED} of ${FAILED} redelivered`).waitFor();
  await dialog.locator('[data-state=completed]').waitFor();
  assert.equal(await progress.getAttribute('aria-valuenow'), '100');
  await dialog.getByRole('button', { name: 'Close' }).last().click();

  await app.dispatcher.start();
  await until(async () => {
    await app.dispatcher.drain();
    return receiver.received.length > FAILED;
  }, 'the redeliveries and the first event of the subscription');
  await app.dispatcher.stop();
  assert.equal(receiver.received.length, FAILED + 1, 'the earlier failure is not redelivered');
});

for (const role of ['founder', 'developer'] as const)
  test(`a ${role} can redeliver only to subscriptions that deliver`, async () => {
    const tenant = await createTenant(app);
    const active = await createSubscription(app, tenant, { name: 'Active' });
    const other = await createSubscription(app, tenant, { name: 'Other' });
    const [event] = await publishEvents(app, tenant);
    const page = await pages.open();
    await enterAs(page, site, tenant, role);
    const label = ({ guid, name }: Record<string, unknown>) => String(role === 'founder' ? name : guid);
    const row = page.getByRole('row').filter({ has: page.getByRole('button', { name: 'Attempts' }) });
    const drawer = page.getByRole('dialog');

    /** Checks the menu of the event, and the drawer of the delivery to the other subscription. */
    async function assertRedeliverable(expected: readonly Record<string, unknown>[]): Promise<void> {
      await page.getByRole('button', { name: 'Redeliver' }).click();
      await page.getByRole('menuitem', { name: label(active) }).waitFor();
      await poll(page);
      const isOtherShown = expected.includes(other) ? 'visible' : 'detached';
      await page.getByRole('menuitem', { name: label(other) }).waitFor({ state: isOtherShown });
      assert.equal(await page.getByRole('menuitem').count(), expected.length);
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

/** The value of a datetime-local input; the browser runs in UTC. */
function inputValue(date: Date): string {
  return date.toISOString().slice(0, 16);
}
