import assert from 'node:assert/strict';
import { test } from 'node:test';
import { scopesFor } from '../../server/tokens/scopes.ts';
import { objectsOf } from '../../testing/api/answers.ts';
import { assertError } from '../../testing/app/app.ts';
import { createTenant, tokenOf, userToken } from '../../testing/app/tenant.ts';
import { openKeyDialog } from '../support/keys.ts';
import { allowCurrentAddress, assertDialogStaysOpen, takeSecret } from '../support/one-time-secrets.ts';
import { poll, returnToTab, watchForText } from '../support/pages.ts';
import { enterAs } from '../support/people.ts';
import { ADDRESS } from '../support/site.ts';
import { app, pages, site } from '../support/suite.ts';

test('a bank key is generated with an allowlist, its secret is shown once, and it works', async () => {
  const tenant = await createTenant(app);
  const page = await pages.open();
  await enterAs(page, site, tenant, 'key_admin');
  await page.goto('/keys');
  await page.getByRole('button', { name: 'Generate bank key' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('Payments backend');

  await dialog.getByRole('button', { name: 'Generate' }).click();
  await dialog.getByText('Enter at least one address').waitFor();
  const address = dialog.getByLabel('Allowed address 1');
  await address.fill('10.1.2.3');
  await dialog.getByText(/private/).waitFor();
  await dialog.getByRole('button', { name: 'Generate' }).click();
  await dialog.getByText('Fix the address marked above').waitFor();
  await address.fill('');
  await allowCurrentAddress(page);
  await dialog.getByRole('button', { name: 'Generate' }).click();

  const clientId = String(await dialog.locator('[data-secret=client_id]').textContent());
  await page.keyboard.press('Escape');
  assert.ok(await dialog.isVisible(), 'Escape does not close the dialog');
  assert.ok(await dialog.getByRole('button', { name: 'Done' }).isDisabled());
  const secret = await takeSecret(dialog, 'client_secret', 'Done');
  assert.match(secret, /^portico_sk_/);

  const row = page.getByRole('row', { name: /Payments backend/ });
  await row.getByText(ADDRESS).waitFor();
  assert.ok(!(await page.content()).includes(secret), 'the secret is no longer on the page');
  assert.ok(await tokenOf(app, { clientId, secret }, 'customers:read'));
});

test('a key can be edited, and deleted after typing its name', async () => {
  const tenant = await createTenant(app);
  // With a production bank, sandbox tokens cannot change organization keys; the dashboard uses a production token.
  const banks = `/organizations/${tenant.organizationGuid}/banks`;
  await app.operate('POST', banks, { name: 'Live', environment: 'production' });
  const page = await pages.open();
  await enterAs(page, site, tenant, 'founder');
  await page.goto(`/keys?kind=organization&bank=${tenant.bankGuid}`);
  await page.getByRole('button', { name: 'Actions for Key' }).click();
  await page.getByRole('menuitem', { name: 'Edit' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('Reporting');
  await dialog.getByText('Read only').click();
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('row', { name: /Reporting/ }).waitFor();

  await page.getByRole('button', { name: 'Actions for Reporting' }).click();
  await page.getByRole('menuitem', { name: 'Delete' }).click();
  const deleteKey = dialog.getByRole('button', { name: 'Delete key pair' });
  await dialog.getByRole('textbox').fill('reporting');
  assert.ok(await deleteKey.isDisabled());
  await dialog.getByRole('textbox').fill('Reporting');
  await deleteKey.click();
  await page.getByText('No organization keys yet').waitFor();
});

test('the secret of a rotation stays visible after Escape and a failed refresh', async () => {
  const tenant = await createTenant(app, { ipAllowlist: [ADDRESS] });
  const page = await pages.open();
  await enterAs(page, site, tenant, 'founder');
  const dialog = await openKeyDialog(page, 'organization', 'Rotate');
  await dialog.getByRole('button', { name: 'Generate new key' }).click();
  const secret = dialog.locator('[data-secret=client_secret]');
  await secret.waitFor();
  await page.keyboard.press('Escape');
  assert.ok(await secret.isVisible());

  await page.route('**/api/banks?*', (route) => route.fulfill({ status: 422, json: { message: 'Not now' } }));
  const failed = page.waitForResponse((response) => response.status() === 422);
  await returnToTab(page);
  await failed;
  await dialog.getByLabel('I have stored it safely').check();
  await dialog.getByRole('button', { name: 'Next: deploy' }).click();
  await dialog.getByText('Waiting for the first use').waitFor();
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'hidden' });
});

test('a rotation replaces the old key and revokes its tokens', async () => {
  const tenant = await createTenant(app, { ipAllowlist: [ADDRESS] });
  const { organizationKey: old } = tenant;
  const oldToken = await tokenOf(app, old, 'customers:read');
  const page = await pages.open();
  await enterAs(page, site, tenant, 'key_admin');
  const dialog = await openKeyDialog(page, 'organization', 'Rotate');
  await dialog.getByRole('button', { name: 'Generate new key' }).click();
  const clientId = String(await dialog.locator('[data-secret=client_id]').textContent());
  const secret = await takeSecret(dialog, 'client_secret', 'Next: deploy');
  await dialog.getByText('Waiting for the first use').waitFor();
  assert.ok(!(await page.content()).includes(secret));

  const token = await tokenOf(app, { clientId, secret }, 'customers:read');
  const headers = { 'x-forwarded-for': ADDRESS };
  assert.equal((await app.call({ url: '/api/customers', token, headers })).status, 200);
  assert.equal((await app.call({ url: '/api/customers', token: oldToken, headers })).status, 200);
  await poll(page);
  await dialog.getByText(`in use, last from ${ADDRESS}`).waitFor();
  await dialog.getByRole('button', { name: 'Next: delete old key' }).click();
  const rotated = await watchForText(page, 'was rotated. The old key pair was deleted.');
  await dialog.getByRole('button', { name: 'Delete old key', exact: true }).click();
  await dialog.waitFor({ state: 'detached' });

  await rotated();
  assert.equal(await page.getByRole('button', { name: 'Actions for Key' }).count(), 1);
  assertError(
    await app.call({ url: '/api/customers', token: oldToken, headers }),
    401,
    'authentication_failed',
  );
  assert.equal((await app.call({ url: '/api/customers', token, headers })).status, 200);
  const payload = { grant_type: 'client_credentials', scope: 'customers:read' };
  const credentials = { client_id: old.clientId, client_secret: old.secret };
  const refused = await app.call({
    ...{ method: 'POST', url: '/oauth/token', payload: { ...payload, ...credentials } },
  });
  assert.equal(refused.status, 401);
});

test('the rotation of a key without allowlist requires an address', async () => {
  const tenant = await createTenant(app);
  const page = await pages.open();
  await enterAs(page, site, tenant, 'founder');
  const dialog = await openKeyDialog(page, 'bank', 'Rotate');
  await dialog.getByRole('button', { name: 'Generate new key' }).click();
  await dialog.getByText('Enter at least one address').waitFor();
  await dialog.getByLabel('Allowed address 1').fill('198.35.26.0/24');
  await dialog.getByRole('button', { name: 'Generate new key' }).click();
  await takeSecret(dialog, 'client_secret', 'Next: deploy');
  await dialog.getByRole('button', { name: 'Finish later' }).click();
  await page.getByText('198.35.26.0/24').waitFor();
  assert.equal(await page.getByRole('button', { name: 'Actions for Key' }).count(), 2);
});

test('scopes can be selected one by one, by category or by action', async () => {
  const tenant = await createTenant(app, { ipAllowlist: [ADDRESS] });
  const page = await pages.open();
  await enterAs(page, site, tenant, 'key_admin');
  const dialog = await openKeyDialog(page, 'organization', 'Edit');
  await dialog.getByText('Anyone with this key can move money').waitFor();
  await dialog.getByText('Custom', { exact: true }).click();
  await dialog.getByText('Select only the scopes that your application needs').waitFor();
  const shown = await dialog.ariaSnapshot();
  for (const scope of scopesFor('organization'))
    assert.match(shown, new RegExp(`checkbox "${scope}: \\w+ .+"`));
  assert.equal(
    await dialog.getByRole('checkbox', { name: 'Other' }).count(),
    0,
    'every scope has a category',
  );

  for (const name of ['Customers', 'Money', 'Trading', 'Administration'])
    await dialog.getByRole('checkbox', { name, exact: true }).uncheck();
  await dialog.getByText(`0 of ${scopesFor('organization').length} scopes selected`).waitFor();
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.getByText('Select at least one scope').waitFor();
  await dialog.getByRole('checkbox', { name: 'Money', exact: true }).check();
  const writes = dialog.getByRole('checkbox', { name: /^All write scopes/ });
  await writes.check();
  await dialog.getByText(/Can .*rename banks/).waitFor();
  await writes.uncheck();
  await dialog.getByRole('checkbox', { name: 'accounts:execute: create accounts', exact: true }).uncheck();
  await dialog.getByText('Can list and retrieve transfers; create transfers, which moves money').waitFor();
  const token = await userToken(app, tenant.organizationGuid);
  const url = `/api/organization_applications/${tenant.organizationKey.clientId}`;
  const payload = { ip_allowlist: ['198.35.26.7'] };
  assert.equal((await app.call({ method: 'PATCH', url, token, payload })).status, 200);
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.waitFor({ state: 'detached' });
  const [saved] = objectsOf(await app.call({ url: '/api/organization_applications', token }));
  assert.deepEqual(saved?.ip_allowlist, payload.ip_allowlist, 'what a colleague changed meanwhile stays');
  assert.deepEqual(saved?.scopes, [
    'accounts:read',
    ...['deposit_addresses', 'external_bank_accounts', 'transfers'].flatMap((resource) => [
      `${resource}:execute`,
      `${resource}:read`,
    ]),
  ]);
});

test('the key dialog stays open until the secret is confirmed', async () => {
  const page = await pages.open();
  await enterAs(page, site, await createTenant(app), 'founder');
  await page.goto('/overview');
  await page.getByRole('link', { name: 'API keys' }).click();
  await page.getByRole('button', { name: 'Generate bank key' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('Slow');
  await dialog.getByLabel('Allowed address 1').fill(ADDRESS);
  await assertDialogStaysOpen(page, {
    path: '/api/bank_applications',
    secret: 'client_secret',
    submit: () => dialog.getByRole('button', { name: 'Generate' }).click(),
  });
  await dialog.getByRole('button', { name: 'Done' }).click();
  await page.getByRole('row', { name: /Slow/ }).waitFor();
});

test('the onboarding creates a sandbox bank if only a production bank exists', async () => {
  const tenant = await createTenant(app, { environment: 'production' });
  const page = await pages.open();
  await enterAs(page, site, tenant, 'key_admin');
  await page.goto('/onboarding');
  await page.getByLabel('Bank name').fill('Trial Bank');
  assert.ok(
    await page.getByRole('button', { name: 'Continue' }).isDisabled(),
    'the onboarding needs a sandbox bank',
  );
  await page.getByRole('button', { name: 'Create bank' }).click();
  await page.getByRole('button', { name: 'Generate bank key' }).waitFor();
  await page.waitForURL((url) => url.searchParams.has('bank'));
  const { body } = await app.operate('GET', `/organizations/${tenant.organizationGuid}/banks`);
  const banks = body.objects as { guid: string; environment: string }[];
  const selected = new URL(page.url()).searchParams.get('bank');
  assert.equal(banks.find(({ guid }) => guid === selected)?.environment, 'sandbox');
});
