import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { assertError, createTestApp, type TestApp } from '../../../testing/app/app.ts';
import { exportFrom, importInto, operator } from '../../../testing/app/cells.ts';
import { createKey, createTenant, type Key, type Tenant, tokenOf } from '../../../testing/app/tenant.ts';
import { createTestDatabase } from '../../../testing/database/database.ts';
import { createCustomer } from '../../../testing/objects/customers.ts';
import {
  browserOf,
  dashboardToken,
  joinTeam,
  logIn,
  type Person,
} from '../../../testing/people/dashboard.ts';
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
const SCOPES = 'customers:read customers:write';

async function moveThere({ organizationGuid }: Tenant): Promise<void> {
  assert.ok(!isFailure(await importInto(fresh, await exportFrom(first, organizationGuid))));
  const removed = await first.transfers.remove(operator, organizationGuid);
  assert.ok(!isFailure(removed) && removed.removed);
}

async function moveBack({ organizationGuid }: Tenant): Promise<void> {
  assert.ok(!isFailure(await importInto(first, await exportFrom(fresh, organizationGuid))));
  await fresh.transfers.remove(operator, organizationGuid);
}

async function customerToken(node: TestApp, { clientId, secret }: Key, customerGuid: string) {
  const { status, body } = await node.call({
    ...{ method: 'POST', url: '/oauth/customer_token' },
    payload: {
      ...{ grant_type: 'client_credentials', client_id: clientId, client_secret: secret },
      ...{ customer_guid: customerGuid, scope: 'customers:read' },
    },
  });
  assert.equal(status, 200, JSON.stringify(body));
  return String(body.access_token);
}

/** One of each kind, from this node. */
async function issueTokens(node: TestApp, tenant: Tenant, customerGuid: string, person: Person) {
  const { organizationGuid, bankKey, organizationKey } = tenant;
  return [
    await tokenOf(node, bankKey, SCOPES),
    await tokenOf(node, organizationKey, SCOPES),
    await customerToken(node, bankKey, customerGuid),
    await dashboardToken(node, browserOf(await logIn(node, person)), organizationGuid),
  ];
}

const call = (node: TestApp, token: string) => node.call({ url: '/api/customers', token });

async function assertValid(node: TestApp, tokens: readonly string[]): Promise<void> {
  for (const token of tokens) {
    const { status, body } = await call(node, token);
    assert.equal(status, 200, JSON.stringify(body));
  }
}

async function assertRefused(node: TestApp, tokens: readonly string[]): Promise<void> {
  for (const token of tokens) assertError(await call(node, token), 401, 'authentication_failed');
}

test('no node issues tokens to a key pair of a removed Organization', async () => {
  const tenant = await createTenant(first);
  for (const node of nodes) await tokenOf(node, tenant.bankKey, SCOPES);
  await moveThere(tenant);
  for (const node of nodes) await assert.rejects(tokenOf(node, tenant.bankKey, SCOPES), /invalid_client/);
});

test('tokens work after each move back, and those from before a removal stay refused', async () => {
  const tenant = await createTenant(first);
  const customerGuid = await createCustomer(first, tenant.bankGuid);
  const person = await joinTeam(first, tenant.organizationGuid);
  const ended: string[] = [];
  for (let move = 1; move <= 2; move += 1) {
    const tokens = await issueTokens(second, tenant, customerGuid, person);
    for (const node of nodes) await assertValid(node, tokens);
    ended.push(...tokens);
    await moveThere(tenant);
    for (const node of nodes) await assertRefused(node, ended);
    await moveBack(tenant);
    for (const node of nodes) await assertRefused(node, ended);
  }
  const added = await createKey(first, `/banks/${tenant.bankGuid}/applications`, { name: 'Added' });
  const issued = await issueTokens(second, tenant, customerGuid, person);
  issued.push(await tokenOf(first, added, SCOPES));
  await assertValid(first, issued);
  // Without a lease a node asks the database.
  await second.revocations.stop();
  await assertValid(second, issued);
  await assertRefused(second, ended);
});
