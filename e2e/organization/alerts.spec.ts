import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTenant, userToken } from '../../testing/app/tenant.ts';
import { joinTeam } from '../../testing/people/dashboard.ts';
import { createSubscription, setMoments } from '../../testing/webhooks/subscriptions.ts';
import { createTestEndpoint } from '../../testing/webhooks/test-endpoint.ts';
import { assertAccessible } from '../support/accessibility.ts';
import { poll, returnToTab, watchForText } from '../support/pages.ts';
import { enter, enterAs } from '../support/people.ts';
import { app, pages, site } from '../support/suite.ts';

const MINUTE = 60_000;

test('the bell shows a failing endpoint, leads to it, and is read once', async () => {
  const tenant = await createTenant(app);
  // What happened before the invitation is not new.
  app.clock.advance(1);
  const page = await pages.open();
  await enterAs(page, site, tenant, 'key_admin');
  const { guid } = await createSubscription(app, tenant, { name: 'Old ledger' });
  await setMoments(app, guid, {
    ...{ activated_at: app.clock.now() },
    deliveries_failing_since: new Date(app.clock.now().getTime() - 10 * MINUTE),
  });
  await app.alertsModule.checkFailing();
  await page.goto('/overview');

  // That the member joined is an alert too.
  await page.getByRole('button', { name: 'Alerts: 2 unread' }).click();
  const list = page.getByRole('dialog', { name: 'Alerts' });
  await list.getByText('Endpoint "Old ledger" has failed for 10 minutes').waitFor();
  await assertAccessible(page, 'the list of the bell');
  await list.getByRole('button', { name: 'Mark all read' }).click();
  await page.getByRole('button', { name: 'Alerts', exact: true }).waitFor();
  await list.getByRole('link', { name: 'View endpoint' }).click();
  await page.getByRole('heading', { name: 'Old ledger' }).waitFor();

  await setMoments(app, guid, { deliveries_failing_since: null, recovered_at: app.clock.now() });
  await app.alertsModule.checkFailing();
  await poll(page, MINUTE);
  await page.getByRole('button', { name: 'Alerts: 1 unread' }).click();
  await list.getByRole('link', { name: 'View all alerts' }).click();
  const table = page.getByRole('table', { name: 'Alerts' });
  await table.getByRole('row', { name: /Endpoint "Old ledger" has recovered/ }).waitFor();
  await assertAccessible(page, 'the page of alerts');
  await page.getByRole('combobox', { name: 'Type' }).click();
  await page.getByRole('option', { name: 'Member joined' }).click();
  await table.getByRole('row', { name: /joined the team/ }).waitFor();
  await table.getByText('has recovered').waitFor({ state: 'detached' });
  await page.getByRole('combobox', { name: 'Environment' }).click();
  await page.getByRole('option', { name: 'Production' }).click();
  await table.getByRole('row', { name: /joined the team.*Both/ }).waitFor();
  await table.getByRole('link', { name: 'View member' }).click();
  await page.getByRole('row', { name: /Key Admin/ }).waitFor();
  await page.getByRole('button', { name: 'Show all members' }).waitFor();
});

test('a Founder sets the number of waiting deliveries and a Slack URL, and tests it', async () => {
  const tenant = await createTenant(app);
  await createSubscription(app, tenant, { name: 'Ledger' });
  const archive = await createSubscription(app, tenant, { name: 'Archive' });
  const slack = await createTestEndpoint();
  const page = await pages.open();
  await enterAs(page, site, tenant, 'founder');
  await page.goto('/alerts/settings');
  await page.getByLabel('Every endpoint').fill('500');
  await page.getByLabel('Ledger').fill('20');
  // A colleague sets another threshold meanwhile.
  const { status } = await app.call({
    ...{ method: 'PATCH', url: '/api/alert_settings', token: await userToken(app, tenant.organizationGuid) },
    payload: { subscriptions: [{ guid: archive.guid, waiting_threshold: 7 }] },
  });
  assert.equal(status, 200);
  await returnToTab(page);
  await page.waitForFunction(() => document.querySelector('input[value="7"]'));
  const waiting = page.getByRole('region', { name: 'Waiting deliveries' });
  const saved = await watchForText(page, 'Alert settings saved.');
  await waiting.getByRole('button', { name: 'Save' }).click();
  await saved();
  await page.reload();
  assert.equal(await page.getByLabel('Every endpoint').inputValue(), '500');
  assert.equal(await page.getByLabel('Ledger').inputValue(), '20');
  assert.equal(await page.getByLabel('Archive').inputValue(), '7');

  const panel = page.getByRole('region', { name: 'Slack' });
  const url = `${slack.url}/services/T000/B000/aVerySecretPart`;
  await panel.getByLabel('Incoming webhook URL').fill(url);
  await panel.getByRole('button', { name: 'Save' }).click();
  await panel.getByText('Nothing posted yet.').waitFor();
  assert.ok(!(await page.content()).includes('aVerySecret'));
  await panel.getByRole('button', { name: 'Send test message' }).click();
  await panel.getByText('Test message delivered.').waitFor();
  slack.behave({ kind: 'answer', status: 404 });
  await panel.getByRole('button', { name: 'Send test message' }).click();
  await panel.getByText('Test message failed: answered 404.').waitFor();
  await assertAccessible(page, 'alert settings');
  await panel.getByRole('button', { name: 'Remove' }).click();
  await panel.getByLabel('Incoming webhook URL').waitFor();
});

test('a member turns emails off in the account and by the link of an email', async () => {
  const { organizationGuid } = await createTenant(app);
  const person = await joinTeam(app, organizationGuid, { role: 'developer' });
  const page = await pages.open();
  await enter(page, site, person);
  await page.goto('/account');
  const panel = page.getByRole('region', { name: 'Alert emails' });
  const saved = page.waitForResponse((response) => response.request().method() === 'PATCH');
  await panel.getByLabel('Deliveries waiting').uncheck();
  await saved;
  assert.equal(await panel.getByLabel('Key created').count(), 0, 'not for Developers');
  await page.reload();
  assert.equal(await panel.getByLabel('Deliveries waiting').isChecked(), false);
  await assertAccessible(page, 'the account with alert emails');

  const link = app.alertsModule.unsubscribeLinks.urlOf({
    ...{ organizationGuid, memberGuid: person.memberGuid, type: 'endpoint.failing' },
  });
  const { pathname } = new URL(link);
  await page.context().clearCookies();
  await page.goto(pathname);
  await page.getByRole('heading', { name: 'Unsubscribe from these emails?' }).waitFor();
  await page.evaluate(() => {
    // The page has one theme per system setting and no scheme of Mantine to wait for.
    const follow = () => {
      const isDark = matchMedia('(prefers-color-scheme: dark)').matches;
      document.documentElement.dataset.mantineColorScheme = isDark ? 'dark' : 'light';
    };
    follow();
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', follow);
  });
  await assertAccessible(page, 'the page of an unsubscribe link');
  await page.getByRole('button', { name: 'Unsubscribe' }).click();
  await page.getByRole('heading', { name: 'You are unsubscribed' }).waitFor();
  await enter(page, site, person);
  await page.getByRole('link', { name: 'your account' }).click();
  await panel.getByLabel('Endpoint recovered').waitFor();
  assert.equal(await panel.getByLabel('Endpoint failing').isChecked(), false);
});
