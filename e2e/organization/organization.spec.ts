import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { createTenant } from '../../testing/app/tenant.ts';
import {
  browse,
  dashboardToken,
  joinTeam,
  PASSWORD,
  type Person,
  tokenInLink,
} from '../../testing/people/dashboard.ts';
import { takeSecret } from '../support/one-time-secrets.ts';
import { navigationOf } from '../support/pages.ts';
import { enter, enterAs, logOut } from '../support/people.ts';
import { app, pages, site } from '../support/suite.ts';

async function acceptInvitation(person: Person, organizationGuid: string, role: string): Promise<void> {
  // The server sorts Organizations by the time of joining.
  app.clock.advance(1);
  const path = `/organizations/${organizationGuid}/members`;
  const { body } = await app.operate('POST', path, { email: person.email, role });
  const payload = { token: tokenInLink(body.invitation_link) };
  assert.equal((await browse(app, 'POST', '/links/accept', { as: person, payload })).status, 200);
}

async function openMemberDialog(page: Page, email: string, action: string): Promise<void> {
  await page.getByRole('button', { name: `Actions for ${email}` }).click();
  await page.getByRole('menuitem', { name: action }).click();
}

test('after logging out the back button shows no data and the token is revoked', async () => {
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

test('switching the Organization changes data and role, and survives a reload', async () => {
  const acme = await createTenant(app);
  const globex = await createTenant(app, { environment: 'production' });
  await app.operate('PATCH', `/organizations/${globex.organizationGuid}`, { name: 'Globex' });
  const person = await joinTeam(app, acme.organizationGuid);
  await acceptInvitation(person, globex.organizationGuid, 'viewer');
  const page = await pages.open();
  await enter(page, site, person);
  await page.goto('/keys');
  await page.getByRole('button', { name: 'Generate bank key' }).waitFor();
  const menu = navigationOf(page);
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
  assert.equal(
    await page.getByRole('button', { name: 'Generate bank key' }).count(),
    0,
    'Viewers cannot generate keys',
  );
  assert.equal(await menu.getByRole('link', { name: 'Sandbox' }).count(), 0, 'the bank is in production');

  await page.goto('/team');
  await page.getByRole('button', { name: 'Organization: Globex' }).waitFor();
  await page.getByText('Members of Globex and their roles.').waitFor();
});

test('a member can be invited, join, get another role and be removed', async () => {
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
  await invited.getByLabel('Confirm password').fill(PASSWORD);
  await invited.getByRole('button', { name: 'Set password and join' }).click();
  await invited.getByRole('heading', { name: 'Overview' }).waitFor();
  await invited.goto('/team');
  assert.equal(await invited.getByRole('button', { name: 'Invite' }).count(), 0, 'Developers cannot invite');

  await page.reload();
  await row.locator('[data-state=active]').waitFor();
  await openMemberDialog(page, 'grace@acme.test', 'Change role');
  await dialog.getByLabel('Founder').check();
  await dialog.getByRole('button', { name: 'Change role' }).click();
  await row.getByText('Founder').waitFor();
  await invited.reload();
  await invited.getByRole('button', { name: 'Invite' }).waitFor();

  await openMemberDialog(page, 'grace@acme.test', 'Remove');
  await dialog.getByRole('textbox').fill('grace@acme.test');
  await dialog.getByRole('button', { name: 'Remove' }).click();
  await row.waitFor({ state: 'detached' });
  await invited.reload();
  await invited.getByText('You are not a member of an Organization').waitFor();
});

test('the only Founder cannot be changed or removed', async () => {
  const tenant = await createTenant(app);
  const page = await pages.open();
  const founder = await enterAs(page, site, tenant, 'founder');
  await joinTeam(app, tenant.organizationGuid, { role: 'viewer', email: 'viewer@acme.test' });
  await page.goto('/team');
  await page.getByRole('button', { name: `${founder.email} is the only Founder` }).waitFor();
  await page.getByRole('button', { name: 'Actions for viewer@acme.test' }).waitFor();
  assert.equal(await page.getByRole('button', { name: `Actions for ${founder.email}` }).count(), 0);
  const token = await dashboardToken(app, founder, tenant.organizationGuid);
  const url = `/api/members/${founder.memberGuid}`;
  const removal = await app.call({ method: 'DELETE', url, token });
  assert.deepEqual([removal.status, removal.body.message_code], [409, 'last_founder']);
});
