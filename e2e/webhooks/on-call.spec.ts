import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { createTenant } from '../../testing/app/tenant.ts';
import { publishEvents } from '../../testing/webhooks/events.ts';
import { createSubscription } from '../../testing/webhooks/subscriptions.ts';
import { createTestEndpoint } from '../../testing/webhooks/test-endpoint.ts';
import { until } from '../../testing/webhooks/webhooks.ts';
import { assertAccessible } from '../support/accessibility.ts';
import { poll } from '../support/pages.ts';
import { enterAs } from '../support/people.ts';
import { app, pages, site, startDispatcher } from '../support/suite.ts';

await startDispatcher();

/** The overview polls every 15 seconds. */
const POLL_MS = 16_000;
const EVENTS = 12;

const rowOf = (page: Page, name: string) =>
  page.getByRole('table', { name: 'Endpoints' }).getByRole('row', { name: new RegExp(name) });

/** A healthy, a failing and a hanging endpoint, after an outage of some seconds. */
async function createOutage() {
  const tenant = await createTenant(app);
  const [healthy, failing, hanging] = [
    await createTestEndpoint(),
    await createTestEndpoint(),
    await createTestEndpoint(),
  ];
  const failed = await createSubscription(app, tenant, { url: `${failing.url}/secret`, name: 'Old ledger' });
  const working = await createSubscription(app, tenant, { url: healthy.url, name: 'New ledger' });
  await createSubscription(app, tenant, { url: hanging.url, name: 'Archive' });
  await app.dispatcher.drain();
  failing.behave({ kind: 'answer', status: 500, body: 'database connection pool exhausted' });
  hanging.behave({ kind: 'hang' });
  await publishEvents(app, tenant, EVENTS);
  // Before virtual time passes, which is faster than a busy machine: the requests would time out.
  await healthy.waitForCount(1 + EVENTS);
  return { tenant, failing, hanging, failed, working };
}

test('on call: which endpoint, why, since when, how many wait, fix, all arrived', async () => {
  const { tenant, failing, hanging, failed, working } = await createOutage();
  const errorsOf = () =>
    app.database.queries
      .selectFrom('endpoint_errors as e')
      .innerJoin('subscriptions as s', 's.guid', 'e.subscription_guid')
      .select('e.kind')
      .where('s.organization_guid', '=', tenant.organizationGuid)
      .execute();
  /** In small steps, so that the lease of the dispatcher is renewed. */
  const passUntil = (condition: () => Promise<boolean>, what: string) =>
    until(async () => {
      app.clock.advance(500);
      return condition();
    }, what);
  await passUntil(async () => new Set((await errorsOf()).map(({ kind }) => kind)).size === 2, 'a timeout');
  await passUntil(async () => {
    const waiting = await app.statistics.waiting(tenant.organizationGuid);
    return (waiting.get(working.guid)?.count ?? 0) === 0;
  }, 'the deliveries to the healthy endpoint');

  const page = await pages.open();
  await enterAs(page, site, tenant, 'developer');
  await page.goto('/overview?range=1h');
  const alert = page.getByRole('alert');
  await alert.getByText('2 endpoints are failing').waitFor();
  await alert
    .getByText(/Old ledger answers 500 since \d\d:\d\d \(“database connection pool exhausted”\) · 12 waiting/)
    .waitFor();
  await alert.getByText(/HTTP 500 × \d+ · View the newest unsuccessful attempt/).waitFor();
  await alert.getByText(/Archive times out since \d\d:\d\d .*12 waiting/).waitFor();
  await rowOf(page, 'New ledger').getByText('100%').first().waitFor();
  await rowOf(page, 'Old ledger').getByText('active · failing').waitFor();
  await rowOf(page, 'Archive')
    .getByText(/timeouts?$/)
    .waitFor();
  await page.getByText('24', { exact: true }).first().waitFor();
  await assertAccessible(page, 'overview with failing endpoints');

  await alert.getByRole('link', { name: 'Old ledger' }).click();
  await page.getByRole('heading', { name: 'Old ledger', level: 1 }).waitFor();
  await page.getByText(/The endpoint answers 500 since/).waitFor();
  await page.getByText('database connection pool exhausted').waitFor();
  await page.getByText(/HTTP 500 × \d+ · 12 waiting/).waitFor();
  await page.getByText('active · failing').first().waitFor();
  await page.getByRole('region', { name: 'Health timeline' }).getByText('Started failing').waitFor();
  assert.equal(await page.getByText('/secret').count(), 0, 'Developers see the host only');
  for (const name of ['Rename', 'Delete', 'Roll signing key'])
    assert.equal(await page.getByRole('button', { name }).count(), 0, name);
  await assertAccessible(page, 'failing subscription');
  await page.getByRole('link', { name: 'View the newest unsuccessful attempt' }).click();
  await page.waitForURL('**/deliveries/*');
  await page.getByText('database connection pool exhausted').first().waitFor();
  await page.goBack();

  failing.behave({ kind: 'answer' });
  hanging.behave({ kind: 'answer' });
  await passUntil(async () => {
    const waiting = await app.statistics.waiting(tenant.organizationGuid);
    return [...waiting.values()].every(({ count }) => count === 0);
  }, 'all deliveries');
  await poll(page, POLL_MS);
  await page.getByText('none waiting').waitFor();
  await page.getByRole('region', { name: 'Health timeline' }).getByText('Recovered').waitFor();
  const chart = page.getByRole('slider', { name: /^Attempts per/ });
  await chart.focus();
  await page.keyboard.press('Enter');
  await page.waitForURL(/from=.*until=/);
  assert.ok(page.url().includes(failed.guid));

  await page.getByRole('link', { name: 'Overview', exact: true }).click();
  await poll(page, POLL_MS);
  await page.getByText('none waiting').waitFor();
  for (const name of ['Old ledger', 'Archive', 'New ledger'])
    await rowOf(page, name).getByText('100%').first().waitFor();
  assert.equal(await page.getByText('endpoints are failing').count(), 0);
  await chart.focus();
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/deliveries\?from=.*until=/);
});

test('Viewers list subscriptions by name and host, without management', async () => {
  const { tenant, failing } = await createOutage();
  const page = await pages.open();
  await enterAs(page, site, tenant, 'viewer');
  await page.goto('/subscriptions');
  const row = page.getByRole('row', { name: /Old ledger/ });
  await row.getByText(new URL(failing.url).host).waitFor();
  await row.getByText(String(EVENTS)).first().waitFor();
  assert.equal(await page.getByRole('button', { name: 'Create Webhook Subscription' }).count(), 0);
  await row.getByRole('link', { name: 'Old ledger' }).click();
  await page.getByRole('heading', { name: 'Old ledger', level: 1 }).waitFor();
  await page.getByRole('region', { name: 'Deliveries' }).getByRole('row').nth(1).waitFor();
});
