import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createCallers, issueToken } from '../../testing/api/api-callers.ts';
import { assertError, createTestApp } from '../../testing/app/app.ts';
import { nextGuid } from '../../testing/objects/customers.ts';
import { report as put, typeOf } from '../../testing/objects/objects.ts';
import { eventTypesOf } from '../../testing/webhooks/subscriptions.ts';

/** The reserve of an account emits an event each time it falls below a threshold (specification, Events). */
const app = await createTestApp();
const owner = await createCallers(app);
const ACCOUNT = { type: 'reserve', asset: 'USD', low_balance: 200, minimum_balance: 100 };

async function report(guid: string, details: object) {
  const answer = await put(app, typeOf('account'), guid, { bank_guid: owner.bankGuid, details });
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  return answer.body;
}

async function create(details: object) {
  const token = await issueToken(app, owner, 'bank');
  return app.call({ method: 'POST', url: '/api/accounts', token, payload: { ...ACCOUNT, ...details } });
}

const emitted = async (guid: unknown) =>
  (await eventTypesOf(app, String(guid))).map((event) => event.replace('account.balance_funding_pull.', ''));

test('a balance equal to a threshold is not below it', async () => {
  const guid = nextGuid(app);
  for (const [balance, state] of [
    [200, 'funded'],
    [199, 'low'],
    [100, 'low'],
    [99, 'below_minimum'],
    [0, 'below_minimum'],
  ] as const)
    assert.equal((await report(guid, { ...ACCOUNT, balance })).state, state);
  assert.deepEqual(await emitted(guid), ['low', 'below_minimum']);
});

test('each crossing emits one event, and a rising balance none', async () => {
  const guid = nextGuid(app);
  const steps: [balance: number, emitted: string][] = [
    [300, ''],
    [150, 'low'],
    [150, ''],
    [140, ''],
    [50, 'below_minimum'],
    [10, ''],
    [150, ''],
    [90, 'below_minimum'],
    [300, ''],
    [150, 'low'],
    [300, ''],
    [50, 'low below_minimum'],
  ];
  const expected: string[] = [];
  for (const [balance, kinds] of steps) {
    await report(guid, { ...ACCOUNT, balance });
    expected.push(...kinds.split(' ').filter((kind) => kind !== ''));
    assert.deepEqual(await emitted(guid), expected, `at ${balance}`);
  }
});

test('a threshold that rises above the balance counts as a crossing', async () => {
  const guid = nextGuid(app);
  await report(guid, { ...ACCOUNT, balance: 300 });
  await report(guid, { ...ACCOUNT, balance: 300, low_balance: 400 });
  assert.deepEqual(await emitted(guid), ['low']);
});

test('an account without a balance or thresholds emits nothing', async () => {
  for (const details of [
    { type: 'fiat', asset: 'USD' },
    { type: 'fiat', asset: 'USD', balance: 0 },
    { type: 'fiat', asset: 'USD', minimum_balance: 100, low_balance: 200 },
  ]) {
    const guid = nextGuid(app);
    assert.equal((await report(guid, details)).state, 'funded');
    assert.deepEqual(await emitted(guid), []);
  }
});

test('an account that is created below its thresholds emits their events at once', async () => {
  const { status, body } = await create({ balance: 50 });
  assert.deepEqual([status, body.state], [201, 'below_minimum']);
  assert.deepEqual(await emitted(body.guid), ['low', 'below_minimum']);
});

test('a simulation lowers the balance to just below each threshold', async () => {
  const { body } = await create({ balance: 1_000, simulate: 'below_minimum' });
  const token = await issueToken(app, owner, 'bank');
  const seen: unknown[] = [];
  for (let step = 0; step < 4; step++) {
    const { body: shown } = await app.call({ url: `/api/accounts/${body.guid}`, token });
    seen.push([shown.balance, shown.state]);
    app.clock.advance(1_000);
    await app.simulator.drain();
  }
  const end = [99, 'below_minimum'];
  assert.deepEqual(seen, [[1_000, 'funded'], [199, 'low'], end, end]);
  assert.deepEqual(await emitted(body.guid), ['low', 'below_minimum']);
});

test('a simulation that starts at a low balance continues from there', async () => {
  const { body } = await create({ balance: 150, simulate: 'below_minimum' });
  app.clock.advance(1_000);
  await app.simulator.drain();
  assert.deepEqual(await emitted(body.guid), ['low', 'below_minimum']);
  const { body: there } = await create({ balance: 150, simulate: 'low' });
  app.clock.advance(1_000);
  await app.simulator.drain();
  assert.deepEqual(await emitted(there.guid), ['low'], 'the level is reached already');
});

test('a simulation that would have to raise the balance is refused', async () => {
  const answer = await create({ balance: 99, simulate: 'low' });
  assertError(answer, 400, 'invalid_parameter', 'balance must be at least minimum_balance to simulate low');
});

test('a report of another balance or threshold ends the simulation', async () => {
  const { type, asset } = ACCOUNT;
  for (const details of [
    { ...ACCOUNT, balance: 999 },
    { type, asset, balance: 1_000 },
  ]) {
    const { body } = await create({ balance: 1_000, simulate: 'low' });
    await report(String(body.guid), details);
    app.clock.advance(10_000);
    await app.simulator.drain();
    const token = await issueToken(app, owner, 'bank');
    const shown = await app.call({ url: `/api/accounts/${body.guid}`, token });
    assert.deepEqual([shown.body.balance, shown.body.state], [details.balance, 'funded']);
  }
});

test('low_balance must exceed minimum_balance, and a simulation needs the thresholds it crosses', async () => {
  for (const low_balance of [100, 99])
    assertError(await create({ low_balance }), 400, 'invalid_parameter', /^low_balance /);
  const answer = await put(app, typeOf('account'), nextGuid(app), {
    bank_guid: owner.bankGuid,
    details: { ...ACCOUNT, low_balance: 1 },
  });
  assertError(answer, 400, 'invalid_parameter', /^low_balance /);
  for (const [missing, simulate] of [
    ['low_balance', 'low'],
    ['low_balance', 'below_minimum'],
    ['minimum_balance', 'below_minimum'],
  ] as const)
    assertError(
      await create({ [missing]: undefined, simulate }),
      400,
      'missing_parameter',
      `${missing} is required to simulate ${simulate}`,
    );
  assert.equal((await create({ minimum_balance: undefined, simulate: 'low' })).status, 201);
});

test('thresholds beyond 2^53 are compared exactly', async () => {
  const details = { type: 'reserve', asset: 'ETH', low_balance: '9007199254740993', minimum_balance: 100 };
  const guid = nextGuid(app);
  assert.equal((await report(guid, { ...details, balance: '9007199254740993' })).state, 'funded');
  assert.equal((await report(guid, { ...details, balance: '9007199254740992' })).state, 'low');
  assert.deepEqual(await emitted(guid), ['low']);
  const equal = { ...details, minimum_balance: '9007199254740993' };
  assertError(await create(equal), 400, 'invalid_parameter', /^low_balance must be greater/);
  const { body } = await create({ ...details, balance: '9007199254740999', simulate: 'low' });
  app.clock.advance(1_000);
  await app.simulator.drain();
  const token = await issueToken(app, owner, 'bank');
  const { body: moved } = await app.call({ url: `/api/accounts/${body.guid}`, token });
  assert.deepEqual([moved.state, moved.balance], ['low', '9007199254740992']);
});
