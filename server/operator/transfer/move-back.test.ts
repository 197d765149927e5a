import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { createTestApp } from '../../../testing/app.ts';
import { exportFrom, importInto, operator } from '../../../testing/cells.ts';
import { createTestDatabase } from '../../../testing/database.ts';
import { createTenant, tokenOf } from '../../../testing/tenant.ts';
import { isFailure } from '../../infrastructure/runtime/failure.ts';

/** An Organization moves to another cell and back to the nodes of the old one. */
const testDatabase = await createTestDatabase();
const first = await createTestApp({ testDatabase });
const second = await createTestApp({ testDatabase, clock: first.clock });
after(() => testDatabase.drop());
const fresh = await createTestApp({
  clock: first.clock,
  environment: { PORTICO_MASTER_KEY: 'b2'.repeat(32) },
});
const nodes = [first, second];

async function moveThereAndBack(organizationGuid: string): Promise<void> {
  assert.ok(!isFailure(await importInto(fresh, await exportFrom(first, organizationGuid))));
  const removed = await first.transfers.remove(operator, organizationGuid);
  assert.ok(!isFailure(removed) && removed.removed);
  assert.ok(!isFailure(await importInto(first, await exportFrom(fresh, organizationGuid))));
  await fresh.transfers.remove(operator, organizationGuid);
}

test('an Organization that has moved back is active on every node at once', async () => {
  const { organizationGuid, bankKey } = await createTenant(first);
  for (const node of nodes) await tokenOf(node, bankKey, 'customers:read');
  await moveThereAndBack(organizationGuid);
  for (const node of nodes) await tokenOf(node, bankKey, 'customers:read');
});
