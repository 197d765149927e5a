import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTenant } from '../../testing/app/tenant.ts';
import { publishEvents } from '../../testing/webhooks/events.ts';
import { createSubscription, founderOf, setMoments } from '../../testing/webhooks/subscriptions.ts';
import { createTestEndpoint, type TestEndpoint } from '../../testing/webhooks/test-endpoint.ts';
import { eventIn, isSignedWith, setDisabled } from '../../testing/webhooks/webhooks.ts';
import { assertDialogStaysOpen, takeSecret } from '../support/one-time-secrets.ts';
import { poll } from '../support/pages.ts';
import { enterAs } from '../support/people.ts';
import { app, pages, site, startDispatcher } from '../support/suite.ts';

await startDispatcher();
const DAY_MS = 24 * 3_600_000;

/** Counts the requests with this event and a signature of this key. */
function countRequests({ received }: TestEndpoint, guid: string, key: string): number {
  return received.filter((request) => eventIn(request).guid === guid && isSignedWith(key, request)).length;
}

test('a subscription can be renamed', async () => {
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
  await dialog.getByText('Enter a name').waitFor();
  await dialog.getByLabel('Name').fill('New name');
  await dialog.getByRole('button', { name: 'Rename' }).click();
  await page.getByRole('heading', { name: 'New name' }).waitFor();
  await page.getByRole('link', { name: '← Subscriptions' }).click();
  await page.getByRole('link', { name: 'New name' }).waitFor();
});

test('rolling a signing key delivers with both keys for 24 hours', async () => {
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
  await dialog.getByRole('button', { name: 'Create new key' }).click();
  const key = await takeSecret(dialog, 'signing_key', 'Next: accept both keys');
  await app.dispatcher.drain();
  await dialog.getByText('Waiting for a 2xx response').waitFor();
  const next = dialog.getByRole('button', { name: 'Next: delete old subscription' });
  assert.ok(await next.isDisabled(), 'the endpoint has not accepted the new key');

  receiver.behave({ kind: 'answer', status: 204 });
  const [both = ''] = await publishEvents(app, tenant);
  await app.dispatcher.drain();
  assert.equal(countRequests(receiver, both, key), 0, 'events wait for the first 2xx');
  const retried = page.waitForResponse(/test_event/);
  await dialog.getByRole('button', { name: 'Retry now' }).click();
  await retried;
  await app.dispatcher.drain();
  await poll(page);
  await dialog.getByText('The new subscription is active').waitFor();
  assert.deepEqual(
    [old.signing_key, key].map((each) => countRequests(receiver, both, each)),
    [1, 1],
  );
  await next.click();
  await dialog.getByRole('button', { name: 'Delete old subscription in 24 hours' }).click();
  await dialog.waitFor({ state: 'detached' });
  await page.getByText(/Deleted in 2[34] h/).waitFor();
  assert.equal(await page.getByRole('button', { name: 'Roll signing key' }).count(), 0);

  const [within = ''] = await publishEvents(app, tenant);
  await app.dispatcher.drain();
  assert.deepEqual(
    [old.signing_key, key].map((each) => countRequests(receiver, within, each)),
    [1, 1],
  );
  app.clock.advance(DAY_MS);
  await app.clusterTasks.runOnce();
  const [after = ''] = await publishEvents(app, tenant);
  await app.dispatcher.drain();
  await app.dispatcher.drain();
  assert.deepEqual(
    [old.signing_key, key].map((each) => countRequests(receiver, after, each)),
    [0, 1],
  );
});

test('at the endpoint limit a roll shows the limit instead of the form', async () => {
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
  await dialog.getByText('Endpoint limit reached (5)').waitFor();
  assert.equal(await dialog.getByRole('button', { name: 'Create new key' }).count(), 0);

  await founderOf(app, tenant)('DELETE', `/${created[4]?.guid}`);
  await poll(page);
  await dialog.getByRole('button', { name: 'Create new key' }).click();
  assert.match(await takeSecret(dialog, 'signing_key', 'Next: accept both keys'), /^[0-9a-f]{64}$/);
});

test('subscriptions that do not deliver have no send buttons', async () => {
  const tenant = await createTenant(app);
  const { url } = await createTestEndpoint();
  const { guid } = await createSubscription(app, tenant, { url, name: 'Ledger' });
  await app.dispatcher.drain();
  const page = await pages.open();
  await enterAs(page, site, tenant, 'founder');
  await page.goto(`/subscriptions/${guid}`);
  const buttons = ['Send test event', 'Redeliver events'].map((name) => page.getByRole('button', { name }));
  const assertButtons = async (areShown: boolean) => {
    await poll(page);
    for (const button of buttons) await button.waitFor({ state: areShown ? 'visible' : 'detached' });
    await page.getByRole('button', { name: 'Rename' }).waitFor();
  };
  await assertButtons(true);
  await setDisabled(app, { guid }, true);
  await assertButtons(false);
  await page.getByText('Disabled by the operator', { exact: true }).waitFor();
  await setDisabled(app, { guid }, false);
  await assertButtons(true);

  await setMoments(app, guid, { failed_at: app.clock.now() });
  await assertButtons(false);
  await page.getByText('Failed permanently. Create a new subscription.').waitFor();
  assert.equal(await page.getByRole('button', { name: 'Roll signing key' }).count(), 0);
  await page.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('dialog').getByText('The subscription no longer delivers').waitFor();
  await page.getByRole('dialog').getByRole('textbox').fill('Ledger');
  await page.getByRole('button', { name: 'Delete in 24 hours' }).click();
  await page.locator('[data-countdown]').waitFor();
  await assertButtons(false);

  await setMoments(app, guid, { scheduled_deletion_at: app.clock.now() });
  await poll(page);
  await page.getByText('Not found in sandbox').waitFor();
  assert.equal(await page.getByRole('button', { name: 'Rename' }).count(), 0);
});

test('the subscription dialog stays open until the signing key is confirmed', async () => {
  const page = await pages.open();
  await enterAs(page, site, await createTenant(app), 'key_admin');
  await page.goto('/overview');
  await page.getByRole('link', { name: 'Subscriptions' }).click();
  await page.getByRole('button', { name: 'Create Webhook Subscription' }).first().click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('Slow');
  await dialog.getByLabel('URL').fill((await createTestEndpoint()).url);
  await assertDialogStaysOpen(page, {
    path: '/api/subscriptions',
    secret: 'signing_key',
    submit: () => dialog.getByRole('button', { name: 'Create' }).click(),
  });
  await dialog.getByRole('button', { name: 'Done' }).click();
  await page.getByRole('heading', { name: 'Slow' }).waitFor();
});
