import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTestApp, OPERATOR_TOKEN } from '../../../../testing/app/app.ts';
import { createTenant, userToken } from '../../../../testing/app/tenant.ts';
import { anySubscription } from '../../../../testing/webhooks/subscriptions.ts';

const app = await createTestApp();
const tenant = await createTenant(app, { ipAllowlist: ['8.8.8.8'] });
const { organizationGuid, bankGuid, bankKey, organizationKey } = tenant;
const person = () => userToken(app, organizationGuid);
const operator = async () => OPERATOR_TOKEN;
const subscription = await anySubscription(app, tenant);

const count = async (table: 'audit_records' | 'events') =>
  (await app.database.queries.selectFrom(table).select('guid').execute()).length;
const records = async () => [await count('audit_records'), await count('events')];

const CASES = [
  { url: `/api/banks/${bankGuid}`, as: person, fields: ['name'], events: 1 },
  { url: `/operator/banks/${bankGuid}`, as: operator, fields: ['name'], events: 1 },
  { url: `/operator/organizations/${organizationGuid}`, as: operator, fields: ['name', 'live', 'features'] },
  {
    url: `/api/bank_applications/${bankKey.clientId}`,
    as: person,
    fields: ['name', 'scopes', 'ip_allowlist'],
  },
  {
    url: `/api/organization_applications/${organizationKey.clientId}`,
    as: person,
    fields: ['name', 'scopes', 'ip_allowlist'],
  },
  { url: `/api/subscriptions/${subscription.guid}`, as: person, fields: ['name'] },
  { url: `/operator/subscriptions/${subscription.guid}`, as: operator, fields: ['protection_enabled'] },
];

for (const { url, as, fields, events = 0 } of CASES)
  test(`PATCH ${url.replace(/[0-9a-f]{32}/, '{guid}')} with the current values changes nothing`, async () => {
    const call = async (method: 'GET' | 'PATCH', payload?: object) =>
      (await app.call({ method, url, token: await as(), ...(payload && { payload }) })).body;
    const current = await call('PATCH', {});
    const same = Object.fromEntries(fields.map((name) => [name, current[name]]));
    const before = await records();
    app.clock.advance(1_000);
    assert.deepEqual(await call('PATCH', same), current);
    for (const name of fields) assert.deepEqual(await call('PATCH', { [name]: current[name] }), current);
    assert.deepEqual(await records(), before);

    if (!fields.includes('name')) return;
    const changed = await call('PATCH', { ...same, name: `${current.name}!` });
    assert.deepEqual([changed.name, changed.updated_at], [`${current.name}!`, app.clock.now().toISOString()]);
    assert.deepEqual(await records(), [(before[0] ?? 0) + 1, (before[1] ?? 0) + events]);
    const newest = app.database.queries.selectFrom('audit_records').select('changes').orderBy('guid', 'desc');
    assert.deepEqual((await newest.executeTakeFirstOrThrow()).changes, { name: `${current.name}!` });
  });
