import assert from 'node:assert/strict';
import { test } from 'node:test';
import { publishEvents } from '../testing/events.ts';
import { createSubscription, founderOf, setMoments } from '../testing/subscriptions.ts';
import { createTenant } from '../testing/tenant.ts';
import { createTestEndpoint, type TestEndpoint } from '../testing/test-endpoint.ts';
import { eventIn, isSignedWith, setDisabled } from '../testing/webhooks.ts';
import { launchBrowser } from './support/browser.ts';
import { createPages } from './support/pages.ts';
import { enterAs } from './support/people.ts';
import { assertHeld, takeSecret } from './support/secrets.ts';
import { createDashboardSite } from './support/site.ts';

const site = await createDashboardSite();
const pages = createPages(await launchBrowser(), site.url);
const { app } = site;
await app.dispatcher.start();
const DAY_MS = 24 * 3_600_000;

/** How often the event arrived with a signature of this key. */
function arrivals({ received }: TestEndpoint, guid: string, key: string): number {
  return received.filter((request) => eventIn(request).guid === guid && isSignedWith(key, request)).length;
}

test('a subscription is renamed, wherever its name stands', async () => {
  const tenant = await createTenant(app);
  const { url } = await createTestEndpoint();
  const { guid } = await createSubscription(app, tenant, { url, name: 'Old name' });
  const page = await pages.open();
  await enterAs(page, site, tenant, 'key_admin');
  await page.goto(`/subscriptions/${guid}`);
  await page.getByRole('button', { name: 'Rename' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('   ');
  await dialog.getByRole('button', { name: 'Rename' }).click();
  await dialog.getByText('Give it a name').waitFor();
  await dialog.getByLabel('Name').fill('New name');
  await dialog.getByRole('button', { name: 'Rename' }).click();
  await page.getByRole('heading', { name: 'New name' }).waitFor();
  await page.getByRole('link', { name: '← Subscriptions' }).click();
  await page.getByRole('link', { name: 'New name' }).waitFor();
});

test('a signing key is rolled: events come with both keys, and after a day with the new one alone', async () => {
  const tenant = await createTenant(app);
  const receiver = await createTestEndpoint();
  const old = await createSubscription(app, tenant, { url: receiver.url, name: 'Ledger' });
  await app.dispatcher.drain();
  const page = await pages.open();
  await enterAs(page, site, tenant, 'founder');
  await page.goto(`/subscriptions/${old.guid}`);
  await page.getByRole('button', { name: 'Roll signing key' }).click();
  const dialog = page.getByRole('dialog');
  receiver.behave({ kind: 'answer', status: 401 });
  await dialog.getByRole('button', { name: 'Create the new one' }).click();
  const key = await takeSecret(dialog, 'signing_key', 'Next: accept both keys');
  await app.dispatcher.drain();
  await dialog.getByText('No 2xx with the new key so far').waitFor();
  const next = dialog.getByRole('button', { name: 'Next: retire the old key' });
  assert.ok(await next.isDisabled(), 'not before the endpoint accepts the new key');

  receiver.behave({ kind: 'answer', status: 204 });
  const [both = ''] = await publishEvents(app, tenant);
  await app.dispatcher.drain();
  assert.equal(arrivals(receiver, both, key), 0, 'it waits for the first 2xx');
  const retried = page.waitForResponse(/test_event/);
  await dialog.getByRole('button', { name: 'Retry now' }).click();
  await retried;
  await app.dispatcher.drain();
  await dialog.getByText('The new subscription is active').waitFor();
  assert.deepEqual(
    [old.signing_key, key].map((each) => arrivals(receiver, both, each)),
    [1, 1],
  );
  await next.click();
  await dialog.getByRole('button', { name: 'Delete the old one in 24 hours' }).click();
  await dialog.waitFor({ state: 'detached' });
  await page.getByText(/Deleted in 2[34] h/).waitFor();
  assert.equal(await page.getByRole('button', { name: 'Roll signing key' }).count(), 0);

  const [within = ''] = await publishEvents(app, tenant);
  await app.dispatcher.drain();
  assert.deepEqual(
    [old.signing_key, key].map((each) => arrivals(receiver, within, each)),
    [1, 1],
  );
  app.clock.advance(DAY_MS);
  await app.clusterTasks.runOnce();
  const [after = ''] = await publishEvents(app, tenant);
  await app.dispatcher.drain();
  await app.dispatcher.drain();
  assert.deepEqual(
    [old.signing_key, key].map((each) => arrivals(receiver, after, each)),
    [0, 1],
  );
});

test('with five subscriptions a roll says that one has to go first, and offers no form', async () => {
  const tenant = await createTenant(app);
  const { url } = await createTestEndpoint();
  const created = [];
  for (const name of ['A', 'B', 'C', 'D', 'E'])
    created.push(await createSubscription(app, tenant, { url: `${url}/${name}`, name }));
  const page = await pages.open();
  await enterAs(page, site, tenant, 'key_admin');
  await page.goto(`/subscriptions/${created[0]?.guid}`);
  await page.getByRole('button', { name: 'Roll signing key' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('at most 5 subscriptions, over both environments. Delete one first.').waitFor();
  assert.equal(await dialog.getByRole('button', { name: 'Create the new one' }).count(), 0);

  await founderOf(app, tenant)('DELETE', `/${created[4]?.guid}`);
  await dialog.getByRole('button', { name: 'Create the new one' }).click();
  assert.match(await takeSecret(dialog, 'signing_key', 'Next: accept both keys'), /^[0-9a-f]{64}$/);
});

test('to what does not deliver nothing is offered to be sent', async () => {
  const tenant = await createTenant(app);
  const { url } = await createTestEndpoint();
  const { guid } = await createSubscription(app, tenant, { url, name: 'Ledger' });
  await app.dispatcher.drain();
  const page = await pages.open();
  await enterAs(page, site, tenant, 'founder');
  await page.goto(`/subscriptions/${guid}`);
  const offers = ['Send test event', 'Recover'].map((name) => page.getByRole('button', { name }));
  const assertOffered = async (isOffered: boolean) => {
    for (const offer of offers) await offer.waitFor({ state: isOffered ? 'visible' : 'detached' });
    await page.getByRole('button', { name: 'Rename' }).waitFor();
  };
  await assertOffered(true);
  await setDisabled(app, { guid }, true);
  await assertOffered(false);
  await page.getByText('Stopped by the operator').waitFor();
  await setDisabled(app, { guid }, false);
  await assertOffered(true);

  await setMoments(app, guid, { failed_at: app.clock.now() });
  await assertOffered(false);
  await page.getByText('Stopped; create a new one').waitFor();
  assert.equal(await page.getByRole('button', { name: 'Roll signing key' }).count(), 0);
  await page.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('dialog').getByText('It delivers nothing any more').waitFor();
  await page.getByRole('dialog').getByRole('textbox').fill('Ledger');
  await page.getByRole('button', { name: 'Delete in 24 hours' }).click();
  await page.locator('[data-countdown]').waitFor();
  await assertOffered(false);

  await setMoments(app, guid, { scheduled_deletion_at: app.clock.now() });
  await page.getByText('There is no such subscription').waitFor();
  assert.equal(await page.getByRole('button', { name: 'Rename' }).count(), 0);
});

test('while a subscription is on its way nothing closes the dialog, and its key is shown', async () => {
  const page = await pages.open();
  await enterAs(page, site, await createTenant(app), 'key_admin');
  await page.goto('/overview');
  await page.getByRole('link', { name: 'Subscriptions' }).click();
  await page.getByRole('button', { name: 'Create Webhook Subscription' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('Slow');
  await dialog.getByLabel('URL').fill((await createTestEndpoint()).url);
  await assertHeld(page, {
    path: '/api/subscriptions',
    secret: 'signing_key',
    submit: () => dialog.getByRole('button', { name: 'Create' }).click(),
  });
  await dialog.getByRole('button', { name: 'Done' }).click();
  await page.getByRole('heading', { name: 'Slow' }).waitFor();
});

test('a role without subscriptions is told so, and who has them', async () => {
  const page = await pages.open();
  await enterAs(page, site, await createTenant(app), 'developer');
  for (const path of ['/subscriptions', `/subscriptions/${'0'.repeat(32)}`]) {
    await page.goto(path);
    await page.getByText('Subscriptions are not for your role').waitFor();
  }
});
