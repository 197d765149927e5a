import assert from 'node:assert/strict';
import { test } from 'node:test';
import { auditRecordsOf } from '../../testing/api/answers.ts';
import { createCallers, createSiblings, issueToken } from '../../testing/api/api-callers.ts';
import { assertError, createTestApp } from '../../testing/app/app.ts';
import { createTenant } from '../../testing/app/tenant.ts';
import { createCustomer } from '../../testing/objects/customers.ts';
import { newObject, report, reportObject, reportOf, typeOf } from '../../testing/objects/objects.ts';
import { eventTypesOf } from '../../testing/webhooks/subscriptions.ts';
import type { TokenType } from '../tokens/claims.ts';

/** PATCH {state: refresh} and DELETE of external bank accounts in sandbox. */
const app = await createTestApp();
const owner = await createCallers(app);
const siblings = await createSiblings(app, owner);
const type = typeOf('external_bank_account');
const HOLDERS: readonly TokenType[] = ['organization', 'bank', 'customer', 'user'];
const REFRESH = { state: 'refresh' };

async function call(
  method: 'PATCH' | 'DELETE' | 'GET',
  guid: string,
  payload?: object,
  holder: TokenType = 'bank',
) {
  const token = await issueToken(app, owner, holder);
  const url = `/api/external_bank_accounts/${guid}`;
  return app.call({ method, url, token, ...(payload && { payload }) });
}
const refresh = (guid: string, fields: object = {}, holder: TokenType = 'bank') =>
  call('PATCH', guid, { ...REFRESH, ...fields }, holder);
const remove = (guid: string, holder: TokenType = 'bank') => call('DELETE', guid, undefined, holder);

async function create(fields: object = {}): Promise<string> {
  const { body } = await app.call({
    ...{ method: 'POST', url: '/api/external_bank_accounts', token: await issueToken(app, owner, 'bank') },
    payload: { ...(await newObject(app, type, owner)), ...fields },
  });
  return String(body.guid);
}

async function pass(ms = 1_000): Promise<void> {
  app.clock.advance(ms);
  await app.simulator.drain();
}

const stateOf = async (guid: string) => (await call('GET', guid)).body.state;
const emitted = async (guid: string) =>
  (await eventTypesOf(app, guid)).map((event) => event.split('.').at(-1)).join(' ');

test('every token that may refresh one can, and the simulator completes it again', async () => {
  for (const holder of HOLDERS) {
    const guid = await create();
    await pass();
    const { status, body } = await refresh(guid, {}, holder);
    assert.deepEqual([status, body.state, body.updated_at], [200, 'storing', app.clock.now().toISOString()]);
    await pass(999);
    assert.equal(await stateOf(guid), 'storing');
    await pass(1);
    assert.equal(await stateOf(guid), 'completed');
    assert.equal(await emitted(guid), 'storing completed storing completed');
  }
});

test('a refresh starts from completed, failed and expired, and may end in another state', async () => {
  for (const ending of ['completed', 'failed', 'expired']) {
    const guid = await create({ simulate: ending });
    await pass();
    await pass();
    assert.equal(await stateOf(guid), ending);
    const before = await emitted(guid);
    assert.equal((await refresh(guid, { simulate: 'failed' })).status, 200);
    await pass();
    assert.equal(await emitted(guid), `${before} storing failed`);
  }
});

test('a refresh replaces the transition that was planned', async () => {
  const guid = await create({ simulate: 'expired' });
  await pass();
  await refresh(guid);
  for (let step = 0; step < 4; step++) await pass();
  assert.equal(await emitted(guid), 'storing completed storing completed');
});

test('a repeated refresh changes nothing while the account is storing', async () => {
  const guid = await create();
  await pass();
  const first = await refresh(guid);
  assert.deepEqual((await refresh(guid)).body, first.body);
  assert.equal(await emitted(guid), 'storing completed storing');
});

test('a refresh of one that is storing can choose another ending', async () => {
  const guid = await create();
  const chosen = await refresh(guid, { simulate: 'failed' });
  app.clock.advance(1);
  assert.deepEqual(
    (await refresh(guid, { simulate: 'failed' })).body,
    chosen.body,
    'a repeat changes nothing',
  );
  const updates = (await auditRecordsOf(app, guid)).filter(({ action }) =>
    String(action).endsWith('.update'),
  );
  assert.deepEqual(
    updates.map(({ changes }) => changes.fields),
    [['simulate']],
  );
  await pass();
  assert.equal(await emitted(guid), 'storing failed');
});

test('a refresh of one that is deleting or deleted is refused', async () => {
  const guid = await create();
  const refused = async (state: string) =>
    assertError(
      await refresh(guid),
      409,
      'state_conflict',
      `The external bank account is ${state}, and cannot be refreshed`,
    );
  await remove(guid);
  await refused('deleting');
  await pass();
  await refused('deleted');
});

test('the body of a refresh has the state refresh and an optional ending', async () => {
  const guid = await create();
  assertError(await call('PATCH', guid, {}), 400, 'missing_parameter', 'state is required');
  for (const state of ['completed', 'deleting', '', 1])
    assertError(await call('PATCH', guid, { state }), 400, 'invalid_parameter', /^state /);
  for (const simulate of ['storing', 'deleting', 'deleted', 'x'])
    assertError(await refresh(guid, { simulate }), 400, 'invalid_parameter', /^simulate /);
  assertError(await refresh(guid, { name: 'x' }), 400, 'invalid_parameter', /^name /);
});

test('every token that may delete one can, from every state; the simulator ends the deletion', async () => {
  for (const [index, simulate] of ['completed', 'failed', 'expired', undefined].entries()) {
    const guid = await create(simulate ? { simulate } : {});
    if (simulate) for (let step = 0; step < 2; step++) await pass();
    const before = await emitted(guid);
    const { status, body } = await remove(guid, HOLDERS[index]);
    assert.deepEqual([status, body.state, body.updated_at], [200, 'deleting', app.clock.now().toISOString()]);
    await pass(999);
    assert.equal(await stateOf(guid), 'deleting');
    await pass(1);
    assert.equal(await stateOf(guid), 'deleted');
    await pass();
    assert.equal(await emitted(guid), before, 'a deletion has no events');
  }
});

test('a repeated deletion changes nothing', async () => {
  const guid = await create();
  const { body } = await remove(guid);
  app.clock.advance(500);
  assert.deepEqual((await remove(guid)).body, body);
  await pass(500);
  const { body: deleted } = await call('GET', guid);
  assert.equal(deleted.state, 'deleted');
  app.clock.advance(1_000);
  assert.deepEqual((await remove(guid)).body, deleted);
  const records = (await auditRecordsOf(app, guid)).filter(({ action }) =>
    String(action).endsWith('.delete'),
  );
  assert.deepEqual(
    records.map(({ action, changes }) => [action, changes.state, changes.fields]),
    [['external_bank_account.delete', 'deleting', ['state']]],
  );
});

test('a repeated deletion continues one whose simulation a node of an older version has ended', async () => {
  const guid = await create();
  await remove(guid);
  await app.database.queries
    .updateTable('objects')
    .set({ ending: null, next_move_at: null })
    .where('guid', '=', guid)
    .execute();
  await pass();
  assert.equal(await stateOf(guid), 'deleting');
  assert.deepEqual([(await remove(guid)).status, await stateOf(guid)], [200, 'deleting']);
  await pass();
  assert.equal(await stateOf(guid), 'deleted');
});

test('a deleted one cannot be referenced', async () => {
  const guid = await create();
  await pass();
  await remove(guid);
  const token = await issueToken(app, owner, 'bank');
  for (const state of ['deleting', 'deleted']) {
    for (const [name, field] of [
      ['transfer', 'external_bank_account_guid'],
      ['identity_verification', 'external_bank_account_guid'],
      ['plan', 'source_account_guid'],
      ['plan', 'destination_account_guid'],
      ['workflow', 'external_bank_account_guid'],
    ] as const) {
      const referring = typeOf(name);
      const payload = { ...(await newObject(app, referring, owner)), [field]: guid };
      assertError(
        await app.call({ method: 'POST', url: `/api/${referring.plural}`, token, payload }),
        422,
        'no_object',
        new RegExp(`^${field} must be the guid of .* of this customer; this one is ${state}$`),
      );
    }
    await pass();
  }
});

test('a deletion takes no fields', async () => {
  const guid = await create();
  assertError(await call('DELETE', guid, { state: 'x' }), 400, 'invalid_parameter');
  assert.equal(await stateOf(guid), 'storing');
});

test('the scopes: refresh needs write, deletion needs execute', async () => {
  const guid = await create();
  const url = `/api/external_bank_accounts/${guid}`;
  const executes = await issueToken(app, owner, 'bank', { scopes: ['external_bank_accounts:execute'] });
  const patch = await app.call({ method: 'PATCH', url, token: executes, payload: REFRESH });
  assertError(patch, 403, 'invalid_scopes', /external_bank_accounts:write$/);
  const writes = await issueToken(app, owner, 'bank', { scopes: ['external_bank_accounts:write'] });
  const answer = await app.call({ method: 'DELETE', url, token: writes });
  assertError(answer, 403, 'invalid_scopes', /external_bank_accounts:execute$/);
});

test('one that the token cannot access is not found, and production is not changed', async () => {
  const guid = await create();
  const token = await issueToken(app, siblings, 'bank');
  const live = await createTenant(app, { environment: 'production' });
  const of = { ...live, customerGuid: await createCustomer(app, live.bankGuid) };
  const reported = await reportObject(app, 'external_bank_account', of);
  const production = await issueToken(app, of, 'bank', { environment: 'production' });
  for (const [method, payload] of [
    ['PATCH', REFRESH],
    ['DELETE', undefined],
  ] as const) {
    const send = (id: string, bearer: string) =>
      app.call({
        ...{ method, url: `/api/external_bank_accounts/${id}`, token: bearer },
        ...(payload && { payload }),
      });
    assertError(await send(guid, token), 404, 'not_found');
    assertError(await send(reported, production), 422, 'not_implemented', /changed in sandbox only/);
  }
});

test('the core reports deletions too, and a deletion is final', async () => {
  const put = (guid: string, state: string) => report(app, type, guid, reportOf(type, owner, { state }));
  const guid = await reportObject(app, 'external_bank_account', owner);
  assert.equal((await put(guid, 'storing')).status, 200, 'a refresh');
  assert.equal((await put(guid, 'deleting')).status, 200);
  assertError(await put(guid, 'completed'), 409, 'state_conflict');
  assert.equal((await put(guid, 'deleted')).status, 200);
  assertError(await put(guid, 'storing'), 409, 'state_conflict');
  assert.equal(await emitted(guid), 'completed storing');
});

test('refreshes, deletions and simulator rounds at once: each transition has its event, and a deletion wins', async () => {
  for (let round = 0; round < 15; round++) {
    const guid = await create({ simulate: 'expired' });
    await pass();
    app.clock.advance(1_000);
    const [refreshed, removed] = await Promise.all([
      refresh(guid),
      remove(guid),
      // On one node: guids of two nodes have no order within a millisecond, and the order of events matters here.
      app.simulator.drain(),
    ]);
    assert.equal(removed.status, 200);
    assert.ok([200, 409].includes(refreshed.status));
    const events = await emitted(guid);
    const refreshedEvents = refreshed.status === 200 ? ' storing' : '';
    assert.match(events, new RegExp(`^storing completed( expired)?${refreshedEvents}$`));
    await pass();
    await pass();
    assert.equal(await stateOf(guid), 'deleted');
    assert.equal(await emitted(guid), events);
  }
});
