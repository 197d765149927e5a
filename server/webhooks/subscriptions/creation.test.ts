import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { auditRecordsOf, objectsOf, soleRecord } from '../../../testing/api/answers.ts';
import { assertError, createTestApp } from '../../../testing/app/app.ts';
import { createTenant } from '../../../testing/app/tenant.ts';
import { createSubscription, founderOf } from '../../../testing/webhooks/subscriptions.ts';
import { createEncryption } from '../../infrastructure/runtime/encryption.ts';
import { Secret } from '../../infrastructure/runtime/secret.ts';

/** POST /api/subscriptions (specification, Subscription; contract, section 7). */
const app = await createTestApp();
const VALID = {
  type: 'webhook',
  name: 'Hook',
  url: 'https://partner.example/hook?x=%20y',
  environment: 'sandbox',
};

test('a new subscription is storing and has exactly the specified fields', async () => {
  const tenant = await createTenant(app);
  for (const environment of ['sandbox', 'production'] as const) {
    const { status, body } = await founderOf(app, tenant)('POST', '', { ...VALID, environment });
    const { guid, signing_key, ...rest } = body;
    assert.equal(status, 201, JSON.stringify(body));
    assert.match(String(guid), /^[0-9a-f]{12}7[0-9a-f]{19}$/);
    assert.match(String(signing_key), /^[0-9a-f]{64}$/);
    const now = app.clock.now().toISOString();
    assert.deepEqual(rest, {
      ...{ organization_guid: tenant.organizationGuid, name: 'Hook', url: VALID.url, environment },
      ...{ type: 'webhook', state: 'storing', created_at: now, updated_at: now, protection_enabled: false },
    });
  }
});

test('every subscription has its own key, shown only at creation', async () => {
  const tenant = await createTenant(app);
  const founder = founderOf(app, tenant);
  const { signing_key: first, guid, ...rest } = await createSubscription(app, tenant);
  const { signing_key: second } = await createSubscription(app, tenant);
  assert.notEqual(first, second);
  assert.deepEqual((await founder('GET', `/${guid}`)).body, { guid, ...rest });
  const answers = [
    await founder('GET', `/${guid}`),
    await founder('GET'),
    await founder('PATCH', `/${guid}`, { name: 'New' }),
    await founder('DELETE', `/${guid}`),
    await app.operate('GET', `/subscriptions/${guid}`),
    await app.operate('GET', `/organizations/${tenant.organizationGuid}/subscriptions`),
    await app.operate('PATCH', `/subscriptions/${guid}`, { disabled: true }),
    await app.operate('GET', '/audit_records?per_page=100'),
  ];
  for (const { status, body } of answers) {
    assert.equal(status, 200);
    for (const hidden of [first, 'signing_key', 'encrypted'])
      assert.ok(!JSON.stringify(body).includes(hidden), JSON.stringify(body));
  }
});

test('the key is stored encrypted, bound to its subscription, and nowhere in plain text', async () => {
  const { guid, signing_key: key } = await createSubscription(app, await createTenant(app));
  const row = await app.database.queries
    .selectFrom('subscriptions')
    .selectAll()
    .where('guid', '=', guid)
    .executeTakeFirstOrThrow();
  const encryption = createEncryption({ masterKeys: [new Secret('a1'.repeat(32))], randomBytes });
  assert.equal(encryption.decrypt(row.signing_key_encrypted, `subscription:${guid}`), key);
  assert.throws(() => encryption.decrypt(row.signing_key_encrypted, `subscription:${'0'.repeat(32)}`));

  const tables = ['subscriptions', 'events', 'audit_records'] as const;
  for (const table of tables) {
    const rows = await app.database.queries.selectFrom(table).selectAll().execute();
    for (const value of rows.flatMap((stored) => Object.values(stored))) {
      const bytes = Buffer.isBuffer(value) ? value : Buffer.from(JSON.stringify(value) ?? '');
      for (const secret of [key, Buffer.from(key, 'hex')]) assert.ok(!bytes.includes(secret), table);
    }
  }
  assert.ok(app.logged.length > 0 && !app.logged.some((line) => line.includes(key)), 'not in the log');
});

test('creation has an audit record without the key and an event in its environment', async () => {
  const tenant = await createTenant(app);
  const { guid, signing_key: key } = await createSubscription(app, tenant, { environment: 'production' });
  const records = await auditRecordsOf(app, guid);
  const { request_id: _, address: __, ...record } = soleRecord(records);
  assert.deepEqual(record, {
    ...{ organization_guid: tenant.organizationGuid, actor_type: 'user', actor: 'f'.repeat(32) },
    ...{ action: 'subscription.create', object_type: 'subscription', object_id: guid },
    changes: { name: 'Hook', url: 'https://partner.example/hook', environment: 'production' },
    created_at: app.clock.now().toISOString(),
  });
  assert.ok(!JSON.stringify(records).includes(key));
  const [event, ...more] = await app.database.queries
    .selectFrom('events')
    .selectAll()
    .where('object_guid', '=', guid)
    .execute();
  assert.deepEqual(more, []);
  assert.deepEqual(
    [event?.event_type, event?.organization_guid, event?.bank_guid, event?.environment],
    ['subscription.storing', tenant.organizationGuid, null, 'production'],
  );
});

test('a refused creation stores nothing', async () => {
  const tenant = await createTenant(app);
  const count = async () => (await app.database.queries.selectFrom('events').selectAll().execute()).length;
  const before = await count();
  const refused = await founderOf(app, tenant)('POST', '', {
    ...VALID,
    environment: 'production',
    url: 'http://partner.example',
  });
  assertError(refused, 422, 'invalid_https_url');
  assert.equal(await count(), before);
  assert.deepEqual(objectsOf(await founderOf(app, tenant)('GET')), []);
});

test('type, name, url and environment are required, and other fields are refused', async () => {
  const founder = founderOf(app, await createTenant(app));
  for (const name of Object.keys(VALID)) {
    const { [name]: _, ...rest } = VALID as Record<string, string>;
    assertError(await founder('POST', '', rest), 400, 'missing_parameter', `${name} is required`);
  }
  for (const [name, value] of [
    ['type', 'email'],
    ['environment', 'staging'],
    ['signing_key', 'a'.repeat(64)],
    ['protection_enabled', true],
    ['state', 'active'],
  ] as const)
    assertError(
      await founder('POST', '', { ...VALID, [name]: value }),
      400,
      'invalid_parameter',
      new RegExp(`^${name} `),
    );
});

test('a name has 1 to 128 characters, not all of them spaces, when created and when changed', async () => {
  const tenant = await createTenant(app);
  const founder = founderOf(app, tenant);
  const { guid } = await createSubscription(app, tenant, { name: '😀'.repeat(128) });
  for (const name of ['', '   ', 'x'.repeat(129), 7])
    for (const answer of [
      await founder('POST', '', { ...VALID, name }),
      await founder('PATCH', `/${guid}`, { name }),
    ])
      assertError(answer, 400, 'invalid_parameter', /^name /);
});
