import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import {
  browse,
  dashboardToken,
  joinTeam,
  PASSWORD,
  type Person,
  tokenInLink,
} from '../testing/dashboard.ts';
import { createTenant } from '../testing/tenant.ts';
import { launchBrowser } from './support/browser.ts';
import { createPages, menuOf } from './support/pages.ts';
import { enter, enterAs, logOut } from './support/people.ts';
import { takeSecret } from './support/secrets.ts';
import { createDashboardSite } from './support/site.ts';

const site = await createDashboardSite();
const pages = createPages(await launchBrowser(), site.url);
const { app } = site;

async function joinAnother(person: Person, organizationGuid: string, role: string): Promise<void> {
  const path = `/organizations/${organizationGuid}/members`;
  const { body } = await app.operate('POST', path, { email: person.email, role });
  const payload = { token: tokenInLink(body.invitation_link) };
  assert.equal((await browse(app, 'POST', '/links/accept', { as: person, payload })).status, 200);
}

async function act(page: Page, who: string, what: string): Promise<void> {
  await page.getByRole('button', { name: `Actions for ${who}` }).click();
  await page.getByRole('menuitem', { name: what }).click();
}

test('after the log out the back button shows nothing of before, and its token is dead', async () => {
  const tenant = await createTenant(app);
  const page = await pages.open();
  let token = '';
  page.on('request', (request) => {
    token = request.headers().authorization ?? token;
  });
  await enterAs(page, site, tenant, 'founder');
  await page.goto('/keys');
  await page.getByText('Any address').first().waitFor();
  await page.getByRole('link', { name: 'Team' }).click();
  await page.getByRole('heading', { name: 'Team' }).waitFor();
  await logOut(page);
  const login = page.getByRole('heading', { name: 'Log in' });
  assert.deepEqual(await page.context().cookies(), []);

  await page.goBack();
  await login.waitFor();
  assert.equal(await page.getByText('Any address').count(), 0);
  await page.goto('/team');
  await login.waitFor();
  const answer = await fetch(`${site.url}/api/members`, { headers: { authorization: token } });
  assert.equal(answer.status, 401);
});

test('the organization is switched, with its own data and role, and remembered', async () => {
  const acme = await createTenant(app);
  const globex = await createTenant(app, { environment: 'production' });
  await app.operate('PATCH', `/organizations/${globex.organizationGuid}`, { name: 'Globex' });
  const person = await joinTeam(app, acme.organizationGuid);
  await joinAnother(person, globex.organizationGuid, 'viewer');
  const page = await pages.open();
  await enter(page, site, person);
  await page.goto('/keys');
  await page.getByRole('button', { name: 'Generate bank key' }).waitFor();
  const menu = menuOf(page);
  await menu.getByRole('link', { name: 'Sandbox' }).waitFor();

  const tokens: string[] = [];
  page.on('request', (request) => {
    if (request.url().endsWith('/dashboard/token')) tokens.push(String(request.postData()));
  });
  await page.getByRole('button', { name: 'Organization: Acme' }).click();
  await page.getByRole('menuitem', { name: 'Globex' }).click();
  await page.getByRole('button', { name: 'Organization: Globex' }).getByText('Viewer').waitFor();
  await page.getByText('Any address').first().waitFor();
  assert.ok(tokens.length > 0);
  assert.ok(tokens.every((body) => body.includes(globex.organizationGuid)));
  assert.equal(await page.getByRole('button', { name: 'Generate bank key' }).count(), 0, 'a Viewer there');
  assert.equal(await menu.getByRole('link', { name: 'Sandbox' }).count(), 0, 'its bank is in production');

  await page.goto('/team');
  await page.getByRole('button', { name: 'Organization: Globex' }).waitFor();
  await page.getByText('Who may use Globex.').waitFor();
});

test('a person is invited, joins by the link, gets another role, and is removed', async () => {
  const tenant = await createTenant(app);
  const page = await pages.open();
  await enterAs(page, site, tenant, 'founder');
  await page.goto('/team');
  const dialog = page.getByRole('dialog');
  await page.getByRole('button', { name: 'Invite' }).click();
  await dialog.getByLabel('Email').fill('grace@acme.test');
  await dialog.getByLabel('Developer').check();
  await dialog.getByRole('button', { name: 'Invite' }).click();
  const link = await takeSecret(dialog, 'invitation_link', 'Done');
  const row = page.getByRole('row', { name: /grace@acme\.test/ });
  await row.locator('[data-state=invited]').waitFor();

  const invited = await pages.open();
  await invited.goto(link);
  await invited.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await invited.getByLabel('Password again').fill(PASSWORD);
  await invited.getByRole('button', { name: 'Set the password and join' }).click();
  await invited.getByRole('heading', { name: 'Overview' }).waitFor();
  await invited.goto('/team');
  assert.equal(await invited.getByRole('button', { name: 'Invite' }).count(), 0, 'a Developer does not');

  await page.reload();
  await row.locator('[data-state=active]').waitFor();
  await act(page, 'grace@acme.test', 'Change role');
  await dialog.getByLabel('Founder').check();
  await dialog.getByRole('button', { name: 'Change' }).click();
  await row.getByText('Founder').waitFor();
  await invited.reload();
  await invited.getByRole('button', { name: 'Invite' }).waitFor();

  await act(page, 'grace@acme.test', 'Remove');
  await dialog.getByRole('textbox').fill('grace@acme.test');
  await dialog.getByRole('button', { name: 'Remove' }).click();
  await row.waitFor({ state: 'detached' });
  await invited.reload();
  await invited.getByText('You belong to no Organization').waitFor();
});

test('the last Founder is not offered for a change, and the service refuses it', async () => {
  const tenant = await createTenant(app);
  const page = await pages.open();
  const founder = await enterAs(page, site, tenant, 'founder');
  await joinTeam(app, tenant.organizationGuid, { role: 'viewer', email: 'viewer@acme.test' });
  await page.goto('/team');
  await page.getByRole('button', { name: `${founder.email} is the last Founder` }).waitFor();
  await page.getByRole('button', { name: 'Actions for viewer@acme.test' }).waitFor();
  assert.equal(await page.getByRole('button', { name: `Actions for ${founder.email}` }).count(), 0);
  const token = await dashboardToken(app, founder, tenant.organizationGuid);
  const url = `/api/members/${founder.memberGuid}`;
  const removal = await app.call({ method: 'DELETE', url, token });
  assert.deepEqual([removal.status, removal.body.message_code], [409, 'last_founder']);
});

test('the audit is filtered by address, and its export holds what the filter shows', async () => {
  const tenant = await createTenant(app);
  const page = await pages.open();
  const founder = await enterAs(page, site, tenant, 'founder');
  const token = await dashboardToken(app, founder, tenant.organizationGuid);
  for (const name of ['First', '=HYPERLINK("https://evil.example")'])
    await app.call({ method: 'POST', url: '/api/banks', token, payload: { name } });
  await page.goto('/audit');
  const rows = page.getByRole('table', { name: 'Audit entries' }).getByRole('row');
  await rows.getByText('member.invite').first().waitFor();
  await page.getByLabel('Action').fill('bank.create');
  await page.getByLabel('Action').press('Enter');
  await page.waitForURL(/action=bank\.create/);
  await rows.getByText('member.invite').first().waitFor({ state: 'detached' });
  await page.getByLabel('Who').fill(founder.memberGuid);
  await page.getByLabel('Who').press('Enter');
  await page.waitForURL(/actor=/);
  await rows.nth(3).waitFor({ state: 'detached' });
  assert.equal(await rows.count(), 3, 'the two banks and the head');

  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Export CSV' }).click(),
  ]);
  assert.equal(download.suggestedFilename(), 'portico-audit.csv');
  const text = await readFile(await download.path(), 'utf8');
  const [head = '', ...lines] = text.trimEnd().split('\r\n');
  assert.match(head, /"action"/);
  assert.equal(lines.length, 2);
  for (const line of lines) {
    assert.ok(line.includes('"bank.create"'), line);
    assert.ok(line.includes(founder.memberGuid), line);
  }
  assert.match(text, /First/);
  await page.reload();
  assert.equal(await page.getByLabel('Action').inputValue(), 'bank.create');
  await page.getByRole('button', { name: 'Clear' }).click();
  await rows.getByText('member.invite').first().waitFor();
});
