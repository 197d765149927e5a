import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { browse, dashboardToken, joinTeam } from '../../testing/dashboard.ts';
import { createTenant } from '../../testing/tenant.ts';
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
  await page.getByLabel('Actor').fill(founder.memberGuid);
  await page.getByLabel('Actor').press('Enter');
  await page.waitForURL(/actor=/);
  await rows.nth(3).waitFor({ state: 'detached' });
  assert.equal(await rows.count(), 3, 'two banks and the header');

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
  await page.getByRole('cell', { name: /Lin/ }).waitFor();
  const removed = await app.call({ method: 'DELETE', url: `/api/members/${left.memberGuid}`, token });
  assert.equal(removed.status, 204, JSON.stringify(removed.body));
  await page.reload();
  await page.getByRole('cell', { name: left.email }).waitFor();
});
