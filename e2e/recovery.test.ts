import assert from 'node:assert/strict';
import { test } from 'node:test';
import { insertDeliveries } from '../testing/deliveries.ts';
import { publishEvents } from '../testing/events.ts';
import { createSubscription, founderOf, setMoments } from '../testing/subscriptions.ts';
import { createTenant } from '../testing/tenant.ts';
import { createTestEndpoint } from '../testing/test-endpoint.ts';
import { setDisabled, until } from '../testing/webhooks.ts';
import { launchBrowser } from './support/browser.ts';
import { createPages } from './support/pages.ts';
import { enterAs } from './support/people.ts';
import { createDashboardSite } from './support/site.ts';

/** Nothing is sent until a test starts the dispatcher, so recoveries stand where they are. */
const site = await createDashboardSite();
const pages = createPages(await launchBrowser(), site.url);
const { app } = site;
const HOUR_MS = 3_600_000;
/** More than the server deals with in one step, which is 500. */
const FAILED = 520;

test('everything that failed since a moment is recovered, with its progress to the end', async () => {
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
  await page.getByRole('button', { name: 'Recover' }).click();
  const dialog = page.getByRole('dialog');
  const recover = dialog.getByRole('button', { name: 'Recover' });
  assert.ok(await recover.isDisabled(), 'of which subscription?');
  await dialog.getByRole('combobox', { name: 'Subscription' }).click();
  await page.getByRole('option', { name: 'Ledger' }).click();

  const since = dialog.getByLabel('Failed since');
  await since.fill(localMinute(new Date(app.clock.now().getTime() + HOUR_MS)));
  await dialog.getByText('Choose a moment that has passed').waitFor();
  assert.ok(await recover.isDisabled());
  await since.fill(localMinute(ago(2 * HOUR_MS)));
  await recover.click();
  await dialog.getByText(`0 of ${FAILED} sent again`).waitFor();
  const progress = dialog.getByRole('progressbar');
  assert.equal(await progress.getAttribute('aria-valuenow'), '0');
  await app.redeliveries.step();
  await dialog.getByText(`500 of ${FAILED} sent again`).waitFor();
  await dialog.getByText('It goes on by itself when you close this').waitFor();
  while (await app.redeliveries.step());
  await dialog.getByText(`${FAILED} of ${FAILED} sent again`).waitFor();
  await dialog.locator('[data-state=completed]').waitFor();
  assert.equal(await progress.getAttribute('aria-valuenow'), '100');
  await dialog.getByRole('button', { name: 'Close' }).last().click();

  await app.dispatcher.start();
  await until(async () => {
    await app.dispatcher.drain();
    return receiver.received.length > FAILED;
  }, 'what was recovered, and the first event of it');
  await app.dispatcher.stop();
  assert.equal(receiver.received.length, FAILED + 1, 'the one from before that moment is not among them');
});

for (const role of ['founder', 'developer'] as const)
  test(`a ${role} is offered to resend to what delivers, and to nothing that is stopped, failed or gone`, async () => {
    const tenant = await createTenant(app);
    const alive = await createSubscription(app, tenant, { name: 'Alive' });
    const other = await createSubscription(app, tenant, { name: 'Other' });
    const [event] = await publishEvents(app, tenant);
    const page = await pages.open();
    await enterAs(page, site, tenant, role);
    const label = ({ guid, name }: Record<string, unknown>) => String(role === 'founder' ? name : guid);
    const row = page.getByRole('row').filter({ has: page.getByRole('button', { name: 'Attempts' }) });
    const drawer = page.getByRole('dialog');

    /** By what the menu offers, and by the drawer of the delivery to the other one. */
    async function assertOffered(targets: readonly Record<string, unknown>[]): Promise<void> {
      await page.goto(`/events/${event}`);
      await page.getByRole('button', { name: 'Resend' }).click();
      await page.getByRole('menuitem', { name: label(alive) }).waitFor();
      assert.equal(await page.getByRole('menuitem').count(), targets.length);
      await page.keyboard.press('Escape');
      // The newer of the two is listed first.
      await row.first().getByRole('button', { name: 'Attempts' }).click();
      const isOffered = targets.includes(other);
      if (isOffered) await drawer.getByRole('button', { name: 'Resend' }).waitFor();
      else {
        await drawer.getByText('Its subscription does not deliver').waitFor();
        assert.equal(await drawer.getByRole('button', { name: 'Resend' }).count(), 0);
      }
    }

    await assertOffered([alive, other]);
    await setDisabled(app, other, true);
    await assertOffered([alive]);
    await setDisabled(app, other, false);
    await assertOffered([alive, other]);
    await founderOf(app, tenant)('DELETE', `/${other.guid}`);
    await assertOffered([alive, other]);
    await setMoments(app, other.guid, { failed_at: app.clock.now() });
    await assertOffered([alive]);
    await setMoments(app, other.guid, { failed_at: null });
    await assertOffered([alive, other]);
    await setMoments(app, other.guid, { scheduled_deletion_at: app.clock.now() });
    await assertOffered([alive]);
  });

/** As a field for date and time takes it, in the zone of this machine, which is that of its browser. */
function localMinute(moment: Date): string {
  return new Date(moment.getTime() - moment.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
