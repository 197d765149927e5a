import { test } from 'node:test';
import { joinTeam } from '../testing/dashboard.ts';
import { createTenant } from '../testing/tenant.ts';
import { launchBrowser } from './support/browser.ts';
import { createPages } from './support/pages.ts';
import { enter, enterAs } from './support/people.ts';
import { assertHeld } from './support/secrets.ts';
import { createDashboardSite } from './support/site.ts';

const site = await createDashboardSite();
const pages = createPages(await launchBrowser(), site.url);
const { app } = site;
/** More than one page of the list. */
const INVITED = 21;

test('the last Founder is known as such on whichever page of the team they are', async () => {
  const tenant = await createTenant(app);
  const { organizationGuid } = tenant;
  const founder = await joinTeam(app, organizationGuid, { email: 'founder@acme.test' });
  for (let index = 0; index < INVITED; index += 1)
    await app.operate('POST', `/organizations/${organizationGuid}/members`, {
      ...{ email: `invited-${index}@acme.test`, role: 'founder' },
    });
  const page = await pages.open();
  await enter(page, site, founder);
  await page.goto('/team');
  await page.getByRole('button', { name: `Actions for invited-${INVITED - 1}@acme.test` }).waitFor();
  await page.getByRole('button', { name: 'Older' }).click();
  await page.getByRole('button', { name: 'founder@acme.test is the last Founder' }).waitFor();
  await joinTeam(app, organizationGuid);
  await page.reload();
  await page.getByRole('button', { name: 'Actions for founder@acme.test' }).waitFor();
});

test('while an invitation is on its way nothing closes the dialog, and its link is shown', async () => {
  const page = await pages.open();
  await enterAs(page, site, await createTenant(app), 'founder');
  await page.goto('/overview');
  await page.getByRole('link', { name: 'Team' }).click();
  await page.getByRole('button', { name: 'Invite' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Email').fill('grace@acme.test');
  await assertHeld(page, {
    path: '/api/members',
    secret: 'invitation_link',
    submit: () => dialog.getByRole('button', { name: 'Invite' }).click(),
  });
  await dialog.getByRole('button', { name: 'Done' }).click();
  await page.getByRole('row', { name: /grace@acme\.test/ }).waitFor();
});
