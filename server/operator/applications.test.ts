import assert from 'node:assert/strict';
import { test } from 'node:test';
import { auditRecordsOf } from '../../testing/api/answers.ts';
import { assertError, createTestApp } from '../../testing/app/app.ts';
import { createTenant, tokenOf, userToken } from '../../testing/app/tenant.ts';
import { scopesFor } from '../tokens/scopes.ts';

/** The first keys of a partner (contract, section 10). */
const app = await createTestApp();
const tenant = await createTenant(app);
const ABSENT = '0'.repeat(32);
const LIST = ['198.35.26.96'];

const KINDS = [
  { kind: 'organization', pathOf: (of: typeof tenant) => `/organizations/${of.organizationGuid}` },
  { kind: 'bank', pathOf: (of: typeof tenant) => `/banks/${of.bankGuid}` },
] as const;

for (const { kind, pathOf } of KINDS) {
  const create = (input: object, of = tenant) => app.operate('POST', `${pathOf(of)}/applications`, input);

  test(`the operator creates ${kind} keys, also with an empty allowlist`, async () => {
    for (const list of [{}, { ip_allowlist: [] }, { ip_allowlist: LIST }]) {
      const { status, body } = await create({ name: 'First', ...list });
      assert.equal(status, 201, JSON.stringify(body));
      const { client_id, client_secret, ...rest } = body;
      const now = app.clock.now().toISOString();
      assert.deepEqual(rest, {
        ...(kind === 'bank' && { bank_guid: tenant.bankGuid }),
        ...{ name: 'First', scopes: scopesFor(kind), ip_allowlist: [], ...list },
        ...{ created_at: now, updated_at: now },
      });
      const key = { clientId: String(client_id), secret: String(client_secret) };
      assert.ok(await tokenOf(app, key, 'customers:read'));
      const url = `/api/${kind}_applications/${client_id}`;
      const { body: shown } = await app.call({ url, token: await userToken(app, tenant.organizationGuid) });
      assert.equal(shown.client_id, client_id);
    }
  });

  test(`${kind} keys of a live Organization need an allowlist from the operator too`, async () => {
    const live = await createTenant(app, { ipAllowlist: LIST });
    await app.operate('PATCH', `/organizations/${live.organizationGuid}`, { live: true });
    for (const input of [{ name: 'First' }, { name: 'First', ip_allowlist: [] }])
      assertError(await create(input, live), 422, 'ip_allowlist_required');
    assert.equal((await create({ name: 'First', ip_allowlist: LIST }, live)).status, 201);
  });

  test(`the rules for allowlists and scopes apply to ${kind} keys of the operator`, async () => {
    const scopes = [kind === 'bank' ? 'organizations:read' : 'subscriptions:read'];
    assertError(
      await create({ name: 'First', ip_allowlist: [...LIST, '10.0.0.1'] }),
      422,
      'invalid_ip_allowlist',
      /^ip_allowlist\[1\] "10\.0\.0\.1" /,
    );
    assertError(await create({ name: 'First', scopes }), 400, 'invalid_parameter', /^scopes\[0\] /);
    assertError(await create({}), 400, 'missing_parameter', /^name /);
  });

  test(`the audit record of a ${kind} key has no secret`, async () => {
    const { body } = await create({ name: 'First', scopes: ['trades:read'], ip_allowlist: LIST });
    const [record, ...none] = await auditRecordsOf(app, String(body.client_id));
    assert.deepEqual(
      [record?.action, record?.actor_type, record?.organization_guid, none],
      [`${kind}_application.create`, 'operator', tenant.organizationGuid, []],
    );
    assert.deepEqual(record?.changes, { name: 'First', scopes: ['trades:read'], ip_allowlist: LIST });
    assert.ok(!app.logged.join().includes(String(body.client_secret)));
  });

  test(`${kind} keys of an unknown owner: 404`, async () => {
    const absent = { ...tenant, organizationGuid: ABSENT, bankGuid: ABSENT };
    assertError(await create({ name: 'First' }, absent), 404, 'not_found');
  });
}
