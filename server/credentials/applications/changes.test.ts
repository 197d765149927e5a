import assert from 'node:assert/strict';
import { test } from 'node:test';
import { auditRecordsOf, soleRecord } from '../../../testing/api/answers.ts';
import { assertError, createTestApp } from '../../../testing/app/app.ts';
import { createKey, createTenant, everyScope, tokenOf, userToken } from '../../../testing/app/tenant.ts';

/** PATCH of a key pair (specification, Application management; contract, section 6). */
const app = await createTestApp({ environment: { PORTICO_RATE_LIMIT_TOKEN_PER_ADDRESS: '100000' } });
const tenant = await createTenant(app);
const LIST = ['198.35.26.96', '193.0.6.0/24'];

const KINDS = [
  {
    kind: 'organization',
    operatorPath: `/organizations/${tenant.organizationGuid}/applications`,
    token: (scope: string) => tokenOf(app, tenant.organizationKey, scope),
  },
  {
    kind: 'bank',
    operatorPath: `/banks/${tenant.bankGuid}/applications`,
    token: (scope: string) => tokenOf(app, tenant.bankKey, scope),
  },
] as const;

for (const { kind, operatorPath, token } of KINDS) {
  const write = `${kind}_applications:write`;
  const url = (clientId: string) => `/api/${kind}_applications/${clientId}`;
  const newKey = async (input: object = {}) =>
    (await createKey(app, operatorPath, { name: 'Key', ip_allowlist: LIST, ...input })).clientId;
  const patch = async (clientId: string, payload: object, scope: string = write) =>
    app.call({ method: 'PATCH', url: url(clientId), token: await token(scope), payload });

  test(`${kind}: an empty array clears the list, an omitted field does not change it`, async () => {
    const clientId = await newKey();
    const renamed = await patch(clientId, { name: 'Renamed' });
    assert.deepEqual([renamed.status, renamed.body.name, renamed.body.ip_allowlist], [200, 'Renamed', LIST]);
    const cleared = await patch(clientId, { ip_allowlist: [] });
    assert.deepEqual([cleared.body.name, cleared.body.ip_allowlist], ['Renamed', []]);
    const set = await patch(clientId, { ip_allowlist: ['193.0.6.139'] });
    assert.deepEqual([set.body.name, set.body.ip_allowlist], ['Renamed', ['193.0.6.139']]);
    const stored = await app.call({ url: url(clientId), token: await token(everyScope(kind)) });
    assert.deepEqual(stored.body, set.body);
  });

  test(`${kind}: a change sets updated_at and only the fields that were sent`, async () => {
    const clientId = await newKey({ scopes: ['trades:read'] });
    const { body: before } = await app.call({ url: url(clientId), token: await token(everyScope(kind)) });
    app.clock.advance(1_000);
    const { body } = await patch(clientId, { name: 'Renamed' });
    assert.deepEqual(body, { ...before, name: 'Renamed', updated_at: app.clock.now().toISOString() });
    assert.notEqual(body.updated_at, before.updated_at);
  });

  test(`${kind}: read-only fields are refused by name; null is refused, an empty body changes nothing`, async () => {
    const clientId = await newKey();
    const { body: before } = await app.call({ url: url(clientId), token: await token(everyScope(kind)) });
    for (const field of ['ip_allowlist', 'name', 'scopes'])
      assert.deepEqual((await patch(clientId, { [field]: null })).body, before);
    for (const field of ['client_id', 'client_secret', 'organization_guid', 'last_used_at'])
      assertError(
        await patch(clientId, { [field]: 'x' }),
        400,
        'invalid_parameter',
        new RegExp(`^${field} `),
      );
    assert.equal((await patch(clientId, {})).status, 200);
    const { body } = await app.call({ url: url(clientId), token: await token(everyScope(kind)) });
    assert.deepEqual(body, before);
  });

  test(`${kind}: an invalid list is refused with the entry and the reason`, async () => {
    const clientId = await newKey();
    const [a, b, c] = ['198.35.26.1', '198.35.26.2', '198.35.26.3'];
    for (const [ip_allowlist, message] of [
      [
        [a, b, c, '198.35.26.4'],
        'ip_allowlist[3] "198.35.26.4" is one entry too many; at most 3 are allowed',
      ],
      [[a, '10.1.2.3'], /^ip_allowlist\[1\] "10\.1\.2\.3" is .*private.*public$/],
      [['127.0.0.1'], /^ip_allowlist\[0\] "127\.0\.0\.1" is .*loopback/],
      [['100.64.0.1'], /"100\.64\.0\.1" is .*carrier/i],
      [['203.0.113.7'], /"203\.0\.113\.7" is .*documentation/],
      [['198.18.0.1'], /"198\.18\.0\.1" is .*benchmark/],
      [['0.0.0.0/0'], /"0\.0\.0\.0\/0" overlaps /],
      [
        ['198.35.26.1/24'],
        'ip_allowlist[0] "198.35.26.1/24" has host bits set; the network is 198.35.26.0/24',
      ],
      [['198.35.26.0/33'], /has a prefix length over 32$/],
      [['198.35.026.1'], /has an octet with a leading zero/],
      [['198.35.26'], /has fewer than four octets$/],
      [['2001:4860::1'], /is IPv6; only IPv4 is accepted$/],
      [['::ffff:198.35.26.1'], /is IPv4-mapped IPv6/],
      [[''], /^ip_allowlist\[0\] "" is empty$/],
      [[a, `${a}/32`], 'ip_allowlist[1] "198.35.26.1/32" is the same network as ip_allowlist[0]'],
    ] as const)
      assertError(await patch(clientId, { ip_allowlist }), 422, 'invalid_ip_allowlist', message);
    const { body } = await app.call({ url: url(clientId), token: await token(everyScope(kind)) });
    assert.deepEqual(body.ip_allowlist, LIST, 'a refused change changes nothing');
  });

  test(`${kind}: a PATCH cannot grant a scope that the caller’s token lacks`, async () => {
    const clientId = await newKey({ scopes: ['trades:read', 'quotes:read'] });
    const scopes = ['trades:read', 'transfers:execute'];
    assertError(await patch(clientId, { scopes }), 403, 'invalid_scopes', /transfers:execute/);
    const widened = await patch(clientId, { scopes }, `${write} transfers:execute`);
    assert.deepEqual(widened.body.scopes, scopes);
  });

  test(`${kind}: a PATCH may keep or narrow scopes that the caller does not hold`, async () => {
    const clientId = await newKey({ scopes: ['trades:read', 'quotes:read'] });
    for (const scopes of [['quotes:read', 'trades:read'], ['quotes:read'], []])
      assert.deepEqual((await patch(clientId, { scopes })).body.scopes, scopes);
    assertError(await patch(clientId, { scopes: ['quotes:read'] }), 403, 'invalid_scopes', /quotes:read/);
  });

  test(`${kind}: a key cannot widen itself through its own token`, async () => {
    const key = await createKey(app, operatorPath, { name: 'Key', scopes: [write, 'trades:read'] });
    const own = await tokenOf(app, key, `${write} trades:read`);
    const widen = { method: 'PATCH', url: url(key.clientId), token: own } as const;
    for (const scope of ['trades:execute', 'customers:write', 'bank_applications:read'])
      assertError(
        await app.call({ ...widen, payload: { scopes: [write, 'trades:read', scope] } }),
        403,
        'invalid_scopes',
        new RegExp(scope),
      );
  });

  test(`${kind}: tokens already issued keep their scopes; the next one has the new ones`, async () => {
    const key = await createKey(app, operatorPath, { name: 'Key', scopes: ['customers:read'] });
    const issued = await tokenOf(app, key, 'customers:read');
    await patch(key.clientId, { scopes: [] });
    assert.equal((await app.call({ url: '/api/customers', token: issued })).status, 200);
    const credentials = { client_id: key.clientId, client_secret: key.secret };
    const payload = { grant_type: 'client_credentials', ...credentials, scope: 'customers:read' };
    assertError(await app.call({ method: 'POST', url: '/oauth/token', payload }), 400, 'invalid_scope');
  });

  test(`${kind}: a change is in the audit log, with actor, address and changes`, async () => {
    const clientId = await newKey();
    const founder = await userToken(app, tenant.organizationGuid);
    const payload = { name: 'Renamed', ip_allowlist: [] };
    const options = { method: 'PATCH', url: url(clientId), payload, remoteAddress: '198.51.100.7' } as const;
    const { headers } = await app.call({ ...options, token: founder });
    assertError(await patch(clientId, { ip_allowlist: ['10.0.0.1'] }), 422, 'invalid_ip_allowlist');
    const records = await auditRecordsOf(app, clientId, `${kind}_application.update`);
    assert.deepEqual(soleRecord(records), {
      ...{ organization_guid: tenant.organizationGuid, object_id: clientId },
      ...{ object_type: `${kind}_application`, action: `${kind}_application.update` },
      ...{ actor_type: 'user', actor: 'f'.repeat(32), address: '198.51.100.7' },
      ...{ request_id: headers['x-request-id'], created_at: app.clock.now().toISOString() },
      changes: payload,
      before: { name: 'Key', ip_allowlist: LIST },
    });
  });
}

test('subscription_events:execute covers :read, so its holder may grant either', async () => {
  const path = `/organizations/${tenant.organizationGuid}/applications`;
  const { clientId } = await createKey(app, path, { name: 'Key', scopes: [] });
  const scope = 'organization_applications:write subscription_events:execute';
  const { status, body } = await app.call({
    method: 'PATCH',
    url: `/api/organization_applications/${clientId}`,
    token: await tokenOf(app, tenant.organizationKey, scope),
    payload: { scopes: ['subscription_events:read'] },
  });
  assert.deepEqual([status, body.scopes], [200, ['subscription_events:read']]);
});
