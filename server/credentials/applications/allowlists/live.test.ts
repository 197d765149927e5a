import assert from 'node:assert/strict';
import { test } from 'node:test';
import { auditRecordsOf } from '../../../../testing/api/answers.ts';
import { assertError, createTestApp } from '../../../../testing/app/app.ts';
import { createTenant, type Tenant, userToken } from '../../../../testing/app/tenant.ts';
import { lockWaits } from '../../../../testing/database/locks.ts';

/** "Live partners and newly created keys must have an allowlist" (specification, Authentication 10). */
const app = await createTestApp();
const LIST = ['198.35.26.96'];

const goLive = ({ organizationGuid }: Tenant, live = true) =>
  app.operate('PATCH', `/organizations/${organizationGuid}`, { live });

const isLive = async ({ organizationGuid }: Tenant) =>
  (await app.operate('GET', `/organizations/${organizationGuid}`)).body.live;

async function liveTenant(): Promise<Tenant> {
  const tenant = await createTenant(app, { ipAllowlist: LIST });
  assert.equal((await goLive(tenant)).status, 200);
  return tenant;
}

const keysOf = (tenant: Tenant) =>
  [
    { path: '/api/organization_applications', owner: {}, key: tenant.organizationKey },
    { path: '/api/bank_applications', owner: { bank_guid: tenant.bankGuid }, key: tenant.bankKey },
  ] as const;

test('clearing a list by PATCH works for an Organization that is not live', async () => {
  const tenant = await createTenant(app, { ipAllowlist: LIST });
  const token = await userToken(app, tenant.organizationGuid);
  for (const { path, key } of keysOf(tenant)) {
    const url = `${path}/${key.clientId}`;
    const { status, body } = await app.call({ method: 'PATCH', url, token, payload: { ip_allowlist: [] } });
    assert.deepEqual([status, body.ip_allowlist], [200, []]);
  }
});

test('clearing a list of a live Organization gets 422 ip_allowlist_required', async () => {
  const tenant = await liveTenant();
  const token = await userToken(app, tenant.organizationGuid);
  for (const { path, key } of keysOf(tenant)) {
    const url = `${path}/${key.clientId}`;
    for (const payload of [{ ip_allowlist: [] }, { name: 'Renamed', ip_allowlist: [] }])
      assertError(await app.call({ method: 'PATCH', url, token, payload }), 422, 'ip_allowlist_required');
    const { body } = await app.call({ url, token });
    assert.deepEqual([body.name, body.ip_allowlist], ['Key', LIST], 'nothing was changed');
    const payload = { name: 'Renamed', ip_allowlist: ['193.0.6.139'] };
    assert.equal((await app.call({ method: 'PATCH', url, token, payload })).status, 200);
  }
});

test('an Organization that stops being live may clear its lists again', async () => {
  const tenant = await liveTenant();
  await goLive(tenant, false);
  const token = await userToken(app, tenant.organizationGuid);
  const url = `/api/bank_applications/${tenant.bankKey.clientId}`;
  assert.equal((await app.call({ method: 'PATCH', url, token, payload: { ip_allowlist: [] } })).status, 200);
});

test('going live is refused while a key has no list, and changes nothing', async () => {
  const tenant = await createTenant(app);
  const others = await createTenant(app, { ipAllowlist: LIST });
  const path = `/organizations/${tenant.organizationGuid}`;
  const before = (await app.operate('GET', path)).body;
  app.clock.advance(1_000);
  const payload = { live: true, name: 'Renamed' };
  assertError(await app.operate('PATCH', path, payload), 422, 'ip_allowlist_required', /2 keys have none$/);
  assert.deepEqual((await app.operate('GET', path)).body, before);
  assert.deepEqual(await auditRecordsOf(app, tenant.organizationGuid, 'organization.update'), []);
  const token = await userToken(app, tenant.organizationGuid);
  for (const [index, { path, key }] of keysOf(tenant).entries()) {
    const expected = index === 0 ? /2 keys have none$/ : /1 key has none$/;
    assertError(await goLive(tenant), 422, 'ip_allowlist_required', expected);
    const url = `${path}/${key.clientId}`;
    await app.call({ method: 'PATCH', url, token, payload: { ip_allowlist: LIST } });
  }
  assert.equal((await goLive(tenant)).status, 200);
  assert.equal((await goLive(others)).status, 200, 'another tenant’s keys do not count');
});

/** Many rounds, so that both orders of the race occur. */
const ROUNDS = 12;

test('clearing a list while going live never leaves a live Organization with an open key', async () => {
  for (let round = 0; round < ROUNDS; round++) {
    const tenant = await createTenant(app, { ipAllowlist: LIST });
    const token = await userToken(app, tenant.organizationGuid);
    const url = `/api/bank_applications/${tenant.bankKey.clientId}`;
    const clear = () => app.call({ method: 'PATCH', url, token, payload: { ip_allowlist: [] } });
    const both = round % 2 === 0 ? [clear, () => goLive(tenant)] : [() => goLive(tenant), clear];
    const statuses = (await Promise.all(both.map((act) => act()))).map(({ status }) => status).sort();
    assert.deepEqual(statuses, [200, 422], 'one of the two is refused');
    const { ip_allowlist } = (await app.call({ url, token })).body as { ip_allowlist: string[] };
    assert.equal(ip_allowlist.length > 0, await isLive(tenant));
  }
});

test('creating an open key while going live never leaves a live Organization with an open key', async () => {
  for (let round = 0; round < ROUNDS; round++) {
    const tenant = await createTenant(app, { ipAllowlist: LIST });
    const path = `/banks/${tenant.bankGuid}/applications`;
    const open = () => app.operate('POST', path, { name: 'Open' });
    const both = round % 2 === 0 ? [open, () => goLive(tenant)] : [() => goLive(tenant), open];
    const statuses = (await Promise.all(both.map((act) => act()))).map(({ status }) => status);
    assert.equal(statuses.filter((status) => status === 422).length, 1, String(statuses));
    const token = await userToken(app, tenant.organizationGuid);
    const { body } = await app.call({ url: '/api/bank_applications', token });
    assert.equal(body.total === 1, await isLive(tenant));
  }
});

test('clearing a list that waits for the lock sees that the Organization went live', async () => {
  const tenant = await createTenant(app, { ipAllowlist: LIST });
  const token = await userToken(app, tenant.organizationGuid);
  const url = `/api/bank_applications/${tenant.bankKey.clientId}`;
  const clearing = await app.database.transaction(async (transaction) => {
    const changed = transaction.updateTable('organizations').set({ live: true });
    await changed.where('guid', '=', tenant.organizationGuid).execute();
    const pending = app.call({ method: 'PATCH', url, token, payload: { ip_allowlist: [] } });
    await waitForLock(pending);
    return { pending };
  });
  assertError(await clearing.pending, 422, 'ip_allowlist_required');
});

test('going live waits for a key that is being created, and counts it', async () => {
  const tenant = await createTenant(app, { ipAllowlist: LIST });
  const { going } = await app.database.transaction(async (transaction) => {
    await app.organizations.lockForShare(transaction, tenant.organizationGuid);
    const going = goLive(tenant);
    await waitForLock(going);
    await transaction
      .updateTable('applications')
      .set({ ip_allowlist: [] })
      .where('client_id', '=', tenant.bankKey.clientId)
      .execute();
    return { going };
  });
  assertError(await going, 422, 'ip_allowlist_required');
  assert.equal(await isLive(tenant), false);
});

/** Resolves once a connection of this database waits for a lock; fails if none does. */
async function waitForLock(pending: Promise<unknown>): Promise<void> {
  let settled = false;
  void pending.finally(() => {
    settled = true;
  });
  while ((await lockWaits(app.database.queries)) === 0)
    assert.ok(!settled, 'the call did not wait for the lock');
}
