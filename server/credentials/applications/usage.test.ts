import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { assertError, createTestApp, type TestApp } from '../../../testing/app/app.ts';
import {
  createTenant,
  everyScope,
  type Key,
  type Tenant,
  tokenOf,
  userToken,
} from '../../../testing/app/tenant.ts';
import { queriesOfOwner } from '../../../testing/database/database.ts';
import { createCustomer, customerToken } from '../../../testing/objects/customers.ts';

/** `last_used_at` and `last_used_ip` (contract, section 6), without a write for each call. */
const app = await createTestApp({ environment: { PORTICO_RATE_LIMIT_TOKEN_PER_CLIENT: '100000' } });

async function shown(tenant: Tenant, { clientId }: Key) {
  const kind = clientId === tenant.bankKey.clientId ? 'bank' : 'organization';
  const token = await userToken(app, tenant.organizationGuid);
  const { body } = await app.call({ url: `/api/${kind}_applications/${clientId}`, token });
  return body;
}

const lastUse = async (tenant: Tenant, key: Key) => {
  const { last_used_at, last_used_ip } = await shown(tenant, key);
  return [last_used_at, last_used_ip];
};

/** Counts the statements that update the table, with a trigger. */
async function countUpdates(): Promise<() => Promise<number>> {
  const owner = queriesOfOwner(app.testDatabase);
  const run = (statement: string) => sql.raw<{ count: number }>(statement).execute(owner);
  await run('create table updates (at timestamptz default now())');
  await run(`create function note_update() returns trigger language plpgsql security definer as
    $$ begin insert into updates default values; return null; end $$`);
  await run(`create trigger noted after update on applications
    for each statement execute function note_update()`);
  return async () => (await run('select count(*)::int as count from updates')).rows[0]?.count ?? 0;
}

test('a key that was never used shows neither field', async () => {
  const tenant = await createTenant(app);
  for (const key of [tenant.organizationKey, tenant.bankKey]) {
    const body = await shown(tenant, key);
    assert.ok(!('last_used_at' in body) && !('last_used_ip' in body), JSON.stringify(body));
  }
});

test('a token request counts as a use, and so does a call with the token', async () => {
  const tenant = await createTenant(app);
  for (const [key, scopes] of [
    [tenant.organizationKey, everyScope('organization')],
    [tenant.bankKey, everyScope('bank')],
  ] as const) {
    const token = await tokenOf(app, key, scopes);
    assert.deepEqual(await lastUse(tenant, key), [app.clock.now().toISOString(), '127.0.0.1']);
    app.clock.advance(60_000);
    await app.call({ url: '/api/customers', token, remoteAddress: '::ffff:193.0.6.139' });
    assert.deepEqual(await lastUse(tenant, key), [app.clock.now().toISOString(), '193.0.6.139']);
  }
});

test('a use moves neither updated_at nor the fields of another key', async () => {
  const tenant = await createTenant(app);
  const before = await shown(tenant, tenant.bankKey);
  app.clock.advance(60_000);
  const token = await tokenOf(app, tenant.organizationKey, 'customers:read');
  await app.call({ url: '/api/customers', token });
  const { updated_at } = await shown(tenant, tenant.organizationKey);
  assert.equal(updated_at, before.updated_at);
  assert.deepEqual(await shown(tenant, tenant.bankKey), before);
});

test('refused requests do not count: a wrong secret, a denied address, a missing scope', async () => {
  const tenant = await createTenant(app, { ipAllowlist: ['198.35.26.96'] });
  const key = tenant.organizationKey;
  const token = await tokenOf(app, key, 'trades:read');
  const before = await lastUse(tenant, key);
  app.clock.advance(60_000);
  const payload = { grant_type: 'client_credentials', client_id: key.clientId, client_secret: 'wrong' };
  assertError(await app.call({ method: 'POST', url: '/oauth/token', payload }), 401, 'invalid_client');
  assertError(await app.call({ url: '/api/customers', token }), 403, 'ip_not_allowed');
  const allowed = { url: '/api/customers', token, remoteAddress: '198.35.26.96' };
  assertError(await app.call(allowed), 403, 'invalid_scopes');
  assert.deepEqual(await lastUse(tenant, key), before);
});

test('a call with a customer token does not count as a use of its key', async () => {
  const tenant = await createTenant(app);
  const customer = await createCustomer(app, tenant.bankGuid);
  const token = await customerToken(app, tenant, customer, ['customers:read']);
  assert.equal((await app.call({ url: '/api/customers', token })).status, 200);
  assert.deepEqual(await lastUse(tenant, tenant.bankKey), [undefined, undefined]);
});

test('many calls are written in one statement', async () => {
  const tenant = await createTenant(app);
  const token = await tokenOf(app, tenant.bankKey, 'customers:read');
  await lastUse(tenant, tenant.bankKey);
  const updates = await countUpdates();
  for (let call = 0; call < 200; call++) {
    app.clock.advance(1);
    assert.equal((await app.call({ url: '/api/customers', token })).status, 200);
  }
  assert.equal(await updates(), 0, 'no write per call');
  assert.deepEqual(await lastUse(tenant, tenant.bankKey), [app.clock.now().toISOString(), '127.0.0.1']);
  assert.equal(await updates(), 0, 'and no write per read of the key');
  await app.nodeTasks.runOnce();
  await app.nodeTasks.runOnce();
  assert.equal(await updates(), 1);
});

test('the last use is the latest one, regardless of the order of the writes', async () => {
  const tenant = await createTenant(app);
  await tokenOf(app, tenant.bankKey, 'customers:read');
  const earlier = app.clock.now();
  app.clock.advance(60_000);
  const later = app.clock.now();
  await app.database.queries
    .updateTable('applications')
    .set({ last_used_at: later, last_used_ip: '193.0.6.139' })
    .where('client_id', '=', tenant.bankKey.clientId)
    .execute();
  assert.notEqual(earlier.getTime(), later.getTime());
  assert.deepEqual(await lastUse(tenant, tenant.bankKey), [later.toISOString(), '193.0.6.139']);
  // The earlier use is written last and is ignored.
  await app.nodeTasks.runOnce();
  assert.equal(app.usage.latest(tenant.bankKey.clientId), undefined);
  assert.deepEqual(await lastUse(tenant, tenant.bankKey), [later.toISOString(), '193.0.6.139']);
});

test('a use whose write failed is written by the next flush', async () => {
  const tenant = await createTenant(app);
  await tokenOf(app, tenant.bankKey, 'customers:read');
  const usedAt = app.clock.now().toISOString();
  await withoutTable(app, 'applications', () => app.nodeTasks.runOnce());
  assert.deepEqual(await lastUse(tenant, tenant.bankKey), [usedAt, '127.0.0.1']);
});

/** Renames the table during the work, to simulate a database failure. */
async function withoutTable(
  { testDatabase }: TestApp,
  table: string,
  work: () => Promise<void>,
): Promise<void> {
  const queries = queriesOfOwner(testDatabase);
  await sql`alter table ${sql.table(table)} rename to hidden`.execute(queries);
  await work();
  await sql`alter table hidden rename to ${sql.table(table)}`.execute(queries);
}
