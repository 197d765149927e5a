import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createCallers, issueToken } from '../../testing/api/api-callers.ts';
import { createTestApp } from '../../testing/app/app.ts';
import { report, reportObject, reportOf, typeOf } from '../../testing/objects/objects.ts';

/** Fields that the service adds: addresses of deposit addresses and link tokens of workflows. */
const app = await createTestApp();
const owner = await createCallers(app);
const token = await issueToken(app, owner, 'bank');

async function create(plural: string, payload: object) {
  const { status, body } = await app.call({ method: 'POST', url: `/api/${plural}`, token, payload });
  assert.equal(status, 201, JSON.stringify(body));
  return { path: `/api/${plural}/${body.guid}`, body };
}
const show = async (path: string) => (await app.call({ url: path, token })).body;

async function pass(): Promise<void> {
  app.clock.advance(1_000);
  await app.simulator.drain();
}

test('a deposit address has its address once it is created', async () => {
  for (const [asset, form] of [
    ['BTC', /^tb1q[0-9a-z]{38}$/],
    ['ETH', /^0x5a5a5a5a[0-9a-f]{32}$/],
    ['USDC', /^0x5a5a5a5a[0-9a-f]{32}$/],
    ['SOL', /^Sandbox\w{36}$/],
    ['DOGE', /^sandbox-doge-[0-9a-f]{32}$/],
  ] as const) {
    const details = { type: 'trading', asset };
    const account_guid = await reportObject(app, 'account', owner, { details });
    const { path, body } = await create('deposit_addresses', { account_guid });
    assert.ok(!('address' in body));
    await pass();
    const { address, ...rest } = await show(path);
    assert.match(String(address), form);
    assert.deepEqual(rest, { ...body, state: 'created', updated_at: app.clock.now().toISOString() });
  }
});

test('a workflow has its link token once it is completed, and none when it failed', async () => {
  const input = { type: 'plaid', kind: 'link_token_create', customer_guid: owner.customerGuid };
  const { path, body } = await create('workflows', {
    ...{ ...input, language: 'en', link_customization_name: 'default' },
    redirect_uri: 'https://partner.example/linked',
  });
  const failed = await create('workflows', { ...input, simulate: 'failed' });
  assert.ok(!('plaid_link_token' in body));
  await pass();
  const { plaid_link_token: linkToken, ...rest } = await show(path);
  const uuid = String(linkToken).replace('link-sandbox-', '');
  assert.match(uuid, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  assert.equal(uuid.replaceAll('-', ''), body.guid);
  assert.deepEqual(rest, { ...body, state: 'completed', updated_at: app.clock.now().toISOString() });
  const ended = await show(failed.path);
  assert.deepEqual([ended.state, 'plaid_link_token' in ended], ['failed', false]);
});

test('the core reports the fields that the service adds in sandbox', async () => {
  for (const [name, state, fields] of [
    ['deposit_address', 'created', { address: 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq' }],
    ['workflow', 'completed', { plaid_link_token: 'link-production-1' }],
  ] as const) {
    const type = typeOf(name);
    const guid = await reportObject(app, name, owner);
    const { details } = reportOf(type, owner) as { details: object };
    const payload = reportOf(type, owner, { state, details: { ...details, ...fields } });
    const { status, body } = await report(app, type, guid, payload);
    assert.equal(status, 200, JSON.stringify(body));
    assert.deepEqual(body, { ...body, state, ...fields });
    assert.deepEqual(await show(`/api/${type.plural}/${guid}`), body);
  }
});
