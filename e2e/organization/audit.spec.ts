import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { createTenant } from '../../testing/app/tenant.ts';
import { browse, dashboardToken, joinTeam } from '../../testing/people/dashboard.ts';
import { assertAccessible } from '../support/accessibility.ts';
import { enter, enterAs } from '../support/people.ts';
import { app, pages, site } from '../support/suite.ts';

test('the CSV export contains the entries that match the filters', async () => {
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
  await page.getByRole('combobox', { name: 'Actor' }).click();
  await page.getByRole('option', { name: founder.email }).click();
  await page.waitForURL(/actor=/);
  await rows.nth(3).waitFor({ state: 'detached' });
  assert.equal(await rows.count(), 3, 'two banks and the header');

  await page.getByRole('button', { name: 'Export' }).click();
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('menuitem', { name: 'CSV' }).click(),
  ]);
  assert.match(download.suggestedFilename(), /^portico-audit-entries-\d{4}-\d\d-\d\d\.csv$/);
  const text = await readFile(await download.path(), 'utf8');
  const [head = '', ...lines] = text.trimEnd().split('\r\n');
  assert.match(head, /"action"/);
  assert.equal(lines.length, 2);
  for (const line of lines) {
    assert.ok(line.includes('"bank.create"'), line);
    assert.ok(line.includes(founder.memberGuid), line);
  }
  assert.match(text, /First/);
  assert.match(text, /"'=HYPERLINK/);
  await page.reload();
  assert.equal(await page.getByLabel('Action').inputValue(), 'bank.create');
  await page.getByRole('button', { name: 'Clear filters' }).click();
  await rows.getByText('member.invite').first().waitFor();
});

test('the audit log shows former members by email', async () => {
  const { organizationGuid } = await createTenant(app);
  const [founder, left] = [await joinTeam(app, organizationGuid), await joinTeam(app, organizationGuid)];
  const renamed = await browse(app, 'PATCH', '/account', { as: left, payload: { name: 'Lin' } });
  assert.equal(renamed.status, 200, JSON.stringify(renamed.body));
  const token = await dashboardToken(app, founder, organizationGuid);
  const page = await pages.open();
  await enter(page, site, founder);
  await page.goto('/audit?action=member.accept');
  await page.getByRole('cell', { name: 'Lin', exact: true }).waitFor();
  const removed = await app.call({ method: 'DELETE', url: `/api/members/${left.memberGuid}`, token });
  assert.equal(removed.status, 204, JSON.stringify(removed.body));
  await page.reload();
  await page.getByRole('cell', { name: left.email, exact: true }).waitFor();
});

test('the drawer shows before and after by name, and the request id', async () => {
  const tenant = await createTenant(app);
  const page = await pages.open();
  const founder = await enterAs(page, site, tenant, 'founder');
  await browse(app, 'PATCH', '/account', { as: founder, payload: { name: 'Ada Lovelace' } });
  const token = await dashboardToken(app, founder, tenant.organizationGuid);
  const { clientId } = tenant.organizationKey;
  const url = `/api/organization_applications/${clientId}`;
  const before = (await app.call({ url, token })).body as { scopes: string[] };
  const kept = before.scopes.filter((scope) => scope !== 'files:read');
  const payload = { name: 'Payouts', scopes: kept };
  const changed = await app.call({ method: 'PATCH', url, token, payload });
  assert.equal(changed.status, 200, JSON.stringify(changed.body));

  await page.goto('/audit');
  await page.getByRole('combobox', { name: 'Group' }).click();
  await page.getByRole('option', { name: 'API keys and tokens' }).click();
  await page.waitForURL(/group=keys/);
  const row = page.getByRole('row', { name: /organization_application\.update/ });
  await row.getByText('Ada Lovelace').waitFor();
  await row.getByText('organization key Payouts').waitFor();
  await page
    .getByRole('row', { name: /member\./ })
    .first()
    .waitFor({ state: 'detached' });
  await row.getByRole('button', { name: 'organization_application.update' }).click();
  const drawer = page.getByRole('dialog', { name: 'Audit entry' });
  await drawer.getByRole('row', { name: 'name Key Payouts' }).waitFor();
  await drawer.getByText('− files:read').waitFor();
  await drawer.getByText(`${kept.length} unchanged`).waitFor();
  const requestId = String(changed.headers['x-request-id']);
  await drawer.getByText(requestId).waitFor();
  await assertAccessible(page, 'audit entry');
  await app.requestRecorder.flush();
  await drawer.getByRole('link', { name: 'View request' }).click();
  await page.getByRole('dialog', { name: 'Request' }).getByText(requestId).waitFor();
  await page.goBack();
  await row.getByRole('button', { name: 'organization_application.update' }).click();
  await drawer.getByRole('button', { name: 'All entries of this object' }).click();
  await page.waitForURL(new RegExp(`object=${clientId}`));
  await page.getByRole('row', { name: /organization_application\.create/ }).waitFor();
  await page.getByLabel('Action').fill('member.');
  await page.getByLabel('Action').press('Enter');
  await page.getByText('No entries match these filters').waitFor();
  await page.getByRole('button', { name: 'Clear filters' }).click();
  await page.getByRole('row', { name: /member\.accept/ }).waitFor();
});
