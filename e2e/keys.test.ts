import assert from 'node:assert/strict';
import { test } from 'node:test';
import { scopesFor } from '../server/tokens/scopes.ts';
import { objectsOf } from '../testing/answers.ts';
import { assertError } from '../testing/app.ts';
import { createTenant, tokenOf, userToken } from '../testing/tenant.ts';
import { launchBrowser } from './support/browser.ts';
import { createPages } from './support/pages.ts';
import { enterAs } from './support/people.ts';
import { allowCurrentAddress, assertHeld, takeSecret } from './support/secrets.ts';
import { ADDRESS, createDashboardSite } from './support/site.ts';

const site = await createDashboardSite();
const pages = createPages(await launchBrowser(), site.url);
const { app } = site;

test('a bank key is generated with its list, its secret shown once, and works', async () => {
  const tenant = await createTenant(app);
  const page = await pages.open();
  await enterAs(page, site, tenant, 'key_admin');
  await page.goto('/keys');
  await page.getByRole('button', { name: 'Generate bank key' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('Payments backend');

  await dialog.getByRole('button', { name: 'Generate' }).click();
  await dialog.getByText('A new key needs at least one address').waitFor();
  const address = dialog.getByLabel('Allowed address 1');
  await address.fill('10.1.2.3');
  await dialog.getByText('"10.1.2.3" is private (RFC 1918)').waitFor();
  await dialog.getByRole('button', { name: 'Generate' }).click();
  await dialog.getByText('Mend the entry that is marked').waitFor();
  await address.fill('');
  await allowCurrentAddress(page);
  await dialog.getByRole('button', { name: 'Generate' }).click();

  const clientId = String(await dialog.locator('[data-secret=client_id]').textContent());
  await page.keyboard.press('Escape');
  assert.ok(await dialog.isVisible(), 'a stray key does not lose the secret');
  assert.ok(await dialog.getByRole('button', { name: 'Done' }).isDisabled());
  const secret = await takeSecret(dialog, 'client_secret', 'Done');
  assert.match(secret, /^portico_sk_/);

  const row = page.getByRole('row', { name: /Payments backend/ });
  await row.getByText(ADDRESS).waitFor();
  assert.ok(!(await page.content()).includes(secret), 'nothing of the page holds the secret any more');
  assert.ok(await tokenOf(app, { clientId, secret }, 'customers:read'));
});

test('an edit is saved, and a removal needs the name to be typed', async () => {
  const tenant = await createTenant(app);
  // From here on a sandbox token does not change Organization keys; the page is the sandbox bank's all the same.
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
  await page.getByRole('menuitem', { name: 'Remove' }).click();
  const remove = dialog.getByRole('button', { name: 'Remove the key' });
  await dialog.getByRole('textbox').fill('reporting');
  assert.ok(await remove.isDisabled());
  await dialog.getByRole('textbox').fill('Reporting');
  await remove.click();
  await page.getByText('No organization key yet').waitFor();
});

test('the secret of a rotation outlives a stray key and a refresh of the banks that fails', async () => {
  const tenant = await createTenant(app, { ipAllowlist: [ADDRESS] });
  const page = await pages.open();
  await enterAs(page, site, tenant, 'founder');
  await page.goto('/keys?kind=organization');
  await page.getByRole('button', { name: 'Actions for Key' }).click();
  await page.getByRole('menuitem', { name: 'Rotate' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Generate the new pair' }).click();
  const secret = dialog.locator('[data-secret=client_secret]');
  await secret.waitFor();
  await page.keyboard.press('Escape');
  assert.ok(await secret.isVisible());

  await page.route('**/api/banks?*', (route) => route.fulfill({ status: 422, json: { message: 'Not now' } }));
  await page.clock.setFixedTime(Date.now() + 90_000);
  const refused = page.waitForResponse((response) => response.status() === 422);
  await page.evaluate(() => window.dispatchEvent(new Event('visibilitychange')));
  await refused;
  await dialog.getByLabel('I have stored it safely').check();
  await dialog.getByRole('button', { name: 'Next: deploy it' }).click();
  await dialog.getByText('Not used so far').waitFor();
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'hidden' });
});

test('a rotation ends with the new pair in use and the old one removed with its tokens', async () => {
  const tenant = await createTenant(app, { ipAllowlist: [ADDRESS] });
  const { organizationKey: old } = tenant;
  const oldToken = await tokenOf(app, old, 'customers:read');
  const page = await pages.open();
  await enterAs(page, site, tenant, 'key_admin');
  await page.goto('/keys?kind=organization');
  await page.getByRole('button', { name: 'Actions for Key' }).click();
  await page.getByRole('menuitem', { name: 'Rotate' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Generate the new pair' }).click();
  const clientId = String(await dialog.locator('[data-secret=client_id]').textContent());
  const secret = await takeSecret(dialog, 'client_secret', 'Next: deploy it');
  await dialog.getByText('Not used so far').waitFor();
  assert.ok(!(await page.content()).includes(secret));

  const token = await tokenOf(app, { clientId, secret }, 'customers:read');
  const headers = { 'x-forwarded-for': ADDRESS };
  assert.equal((await app.call({ url: '/api/customers', token, headers })).status, 200);
  assert.equal((await app.call({ url: '/api/customers', token: oldToken, headers })).status, 200);
  await dialog.getByText(`a call came from ${ADDRESS}`).waitFor();
  await dialog.getByRole('button', { name: 'Next: remove the old one' }).click();
  await dialog.getByRole('button', { name: 'Remove the old pair' }).click();
  await dialog.waitFor({ state: 'detached' });

  await page.getByText('is rotated; the old pair is removed').waitFor();
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

test('the rotation of a key without addresses asks for one, as every new key needs it', async () => {
  const tenant = await createTenant(app);
  const page = await pages.open();
  await enterAs(page, site, tenant, 'founder');
  await page.goto('/keys');
  await page.getByRole('button', { name: 'Actions for Key' }).click();
  await page.getByRole('menuitem', { name: 'Rotate' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Generate the new pair' }).click();
  await dialog.getByText('A new key needs at least one address').waitFor();
  await dialog.getByLabel('Allowed address 1').fill('198.35.26.0/24');
  await dialog.getByRole('button', { name: 'Generate the new pair' }).click();
  await takeSecret(dialog, 'client_secret', 'Next: deploy it');
  await dialog.getByRole('button', { name: 'Finish later' }).click();
  await page.getByText('198.35.26.0/24').waitFor();
  assert.equal(await page.getByRole('button', { name: 'Actions for Key' }).count(), 2);
});

test('scopes are chosen one by one, by category or by action, and each says what it allows', async () => {
  const tenant = await createTenant(app, { ipAllowlist: [ADDRESS] });
  const page = await pages.open();
  await enterAs(page, site, tenant, 'key_admin');
  await page.goto('/keys?kind=organization');
  await page.getByRole('button', { name: 'Actions for Key' }).click();
  await page.getByRole('menuitem', { name: 'Edit' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('Whoever finds it can move money').waitFor();
  await dialog.getByText('Choose', { exact: true }).click();
  await dialog.getByText('Choose the fewest that its program needs').waitFor();
  for (const scope of scopesFor('organization'))
    await dialog.getByRole('checkbox', { name: new RegExp(`^${scope}: \\w+ .+`) }).waitFor();
  assert.equal(await dialog.getByRole('checkbox', { name: 'Other' }).count(), 0, 'each has its category');

  for (const name of ['Customers', 'Money', 'Trading', 'Administration'])
    await dialog.getByRole('checkbox', { name, exact: true }).uncheck();
  await dialog.getByText(`0 of ${scopesFor('organization').length} chosen`).waitFor();
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.getByText('Choose at least one').waitFor();
  await dialog.getByRole('checkbox', { name: 'Money', exact: true }).check();
  const writes = dialog.getByRole('checkbox', { name: /^Every write/ });
  await writes.check();
  await dialog.getByText('May rename banks').waitFor();
  await writes.uncheck();
  await dialog.getByRole('checkbox', { name: 'accounts:execute: create accounts', exact: true }).uncheck();
  await dialog.getByText('May list and retrieve transfers; create transfers, which moves money').waitFor();
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.waitFor({ state: 'detached' });
  const token = await userToken(app, tenant.organizationGuid);
  const [saved] = objectsOf(await app.call({ url: '/api/organization_applications', token }));
  assert.deepEqual(saved?.scopes, [
    'accounts:read',
    ...['deposit_addresses', 'external_bank_accounts', 'transfers'].flatMap((resource) => [
      `${resource}:execute`,
      `${resource}:read`,
    ]),
  ]);
});

test('while a key is on its way nothing closes the dialog, and its secret is shown', async () => {
  const page = await pages.open();
  await enterAs(page, site, await createTenant(app), 'founder');
  await page.goto('/overview');
  await page.getByRole('link', { name: 'API keys' }).click();
  await page.getByRole('button', { name: 'Generate bank key' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('Slow');
  await dialog.getByLabel('Allowed address 1').fill(ADDRESS);
  await assertHeld(page, {
    path: '/api/bank_applications',
    secret: 'client_secret',
    submit: () => dialog.getByRole('button', { name: 'Generate' }).click(),
  });
  await dialog.getByRole('button', { name: 'Done' }).click();
  await page.getByRole('row', { name: /Slow/ }).waitFor();
});

test('the wizard makes a sandbox bank for who has a production bank only, and goes on with that', async () => {
  const tenant = await createTenant(app, { environment: 'production' });
  const page = await pages.open();
  await enterAs(page, site, tenant, 'key_admin');
  await page.goto('/onboarding');
  await page.getByLabel('Name of the bank').fill('Trial Bank');
  assert.ok(
    await page.getByRole('button', { name: 'Continue' }).isDisabled(),
    'not with the production bank',
  );
  await page.getByRole('button', { name: 'Create', exact: true }).click();
  await page.getByRole('button', { name: 'Continue with Trial Bank' }).click();
  await page.getByRole('button', { name: 'Generate bank key' }).waitFor();
  const { body } = await app.operate('GET', `/organizations/${tenant.organizationGuid}/banks`);
  const banks = body.objects as { guid: string; environment: string }[];
  const chosen = new URL(page.url()).searchParams.get('bank');
  assert.equal(banks.find(({ guid }) => guid === chosen)?.environment, 'sandbox');
});
