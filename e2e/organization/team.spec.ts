import { test } from 'node:test';
import { createTenant } from '../../testing/app/tenant.ts';
import { joinTeam } from '../../testing/people/dashboard.ts';
import { assertDialogStaysOpen } from '../support/one-time-secrets.ts';
import { enter, enterAs } from '../support/people.ts';
import { app, pages, site } from '../support/suite.ts';

/** More than one page. */
const INVITED = 51;

test('the only Founder is recognized on every page of the list', async () => {
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
  await page.getByRole('button', { name: 'founder@acme.test is the only Founder' }).waitFor();
  await joinTeam(app, organizationGuid);
  await page.reload();
  await page.getByRole('button', { name: 'Actions for founder@acme.test' }).waitFor();
});

test('the invitation dialog stays open until the link is confirmed', async () => {
  const page = await pages.open();
  await enterAs(page, site, await createTenant(app), 'founder');
  await page.goto('/overview');
  await page.getByRole('link', { name: 'Team' }).click();
  await page.getByRole('button', { name: 'Invite' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Email').fill('grace-team@acme.test');
  await assertDialogStaysOpen(page, {
    path: '/api/members',
    secret: 'invitation_link',
    submit: () => dialog.getByRole('button', { name: 'Invite' }).click(),
  });
  await dialog.getByRole('button', { name: 'Done' }).click();
  await page.getByRole('row', { name: /grace-team@acme\.test/ }).waitFor();
});
