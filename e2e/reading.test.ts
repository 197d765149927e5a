import assert from 'node:assert/strict';
import { test } from 'node:test';
import { browse, dashboardToken, joinTeam } from '../testing/dashboard.ts';
import { createTenant } from '../testing/tenant.ts';
import { launchBrowser } from './support/browser.ts';
import { createPages } from './support/pages.ts';
import { enter } from './support/people.ts';
import { createDashboardSite } from './support/site.ts';

const site = await createDashboardSite();
const pages = createPages(await launchBrowser(), site.url);
const { app } = site;

test('the exact time is told to the keyboard as well', async () => {
  const tenant = await createTenant(app);
  const page = await pages.open();
  await enter(page, site, await joinTeam(app, tenant.organizationGuid));
  await page.goto('/keys');
  const created = page.getByRole('row', { name: /^Key/ }).locator('time');
  const at = String(await created.getAttribute('datetime'));
  await created.focus();
  await page.getByRole('tooltip').getByText(at).waitFor();
});

test('who has left the team is known in the audit by their address', async () => {
  const { organizationGuid } = await createTenant(app);
  const [founder, left] = [await joinTeam(app, organizationGuid), await joinTeam(app, organizationGuid)];
  const renamed = await browse(app, 'PATCH', '/account', { as: left, payload: { name: 'Lin' } });
  assert.equal(renamed.status, 200, JSON.stringify(renamed.body));
  const token = await dashboardToken(app, founder, organizationGuid);
  const page = await pages.open();
  await enter(page, site, founder);
  await page.goto('/audit?action=member.accept');
  await page.getByRole('cell', { name: /Lin/ }).waitFor();
  const removed = await app.call({ method: 'DELETE', url: `/api/members/${left.memberGuid}`, token });
  assert.equal(removed.status, 204, JSON.stringify(removed.body));
  await page.reload();
  await page.getByRole('cell', { name: left.email }).waitFor();
});
