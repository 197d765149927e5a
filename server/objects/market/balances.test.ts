import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KyselyPlugin } from 'kysely';
import { createCallers, issueToken } from '../../../testing/api/api-callers.ts';
import { createTestApp } from '../../../testing/app/app.ts';
import { createCustomer } from '../../../testing/objects/customers.ts';
import { reportObject, typeOf } from '../../../testing/objects/objects.ts';
import { eventTypesOf } from '../../../testing/webhooks/subscriptions.ts';
import type { ObjectRow } from '../store.ts';
import { lockBalances } from './balances.ts';

/** Balances of sandbox accounts follow completed trades and transfers. */
const app = await createTestApp();
const other = await createTestApp({ testDatabase: app.testDatabase, clock: app.clock });
const owner = await createCallers(app);
const token = () => issueToken(app, owner, 'bank');
const TRADE = { side: 'buy', symbol: 'BTC-USD', amount: 5, deliver_amount: 400, receive_amount: 5 };
const TRANSFER = { transfer_type: 'book', asset: 'USD', amount: 300 };

async function create(plural: string, payload: object): Promise<string> {
  const answer = await app.call({ method: 'POST', url: `/api/${plural}`, token: await token(), payload });
  assert.equal(answer.status, 201, JSON.stringify(answer.body));
  return String(answer.body.guid);
}

const newCustomer = () => createCustomer(app, owner.bankGuid);
const accountOf = (customer_guid: string, asset: string, fields: object = {}) =>
  create('accounts', { type: asset === 'USD' ? 'fiat' : 'trading', asset, customer_guid, ...fields });

async function show(plural: string, guid: string) {
  return (await app.call({ url: `/api/${plural}/${guid}`, token: await token() })).body;
}
const balanceOf = async (guid: string) => (await show('accounts', guid)).balance;

/** Enough steps for every path, on two nodes at once. */
async function simulate(): Promise<void> {
  for (let step = 0; step < 6; step += 1) {
    app.clock.advance(1_000);
    await Promise.all([app.simulator.drain(), other.simulator.drain()]);
  }
}

test('a completed trade moves both amounts, in either direction', async () => {
  const customer_guid = await newCustomer();
  const usd = await accountOf(customer_guid, 'USD', { balance: 1_000 });
  const btc = await accountOf(customer_guid, 'BTC', { balance: 0 });
  await create('trades', { ...TRADE, customer_guid });
  assert.deepEqual([await balanceOf(usd), await balanceOf(btc)], [1_000, 0], 'not before it is completed');
  await simulate();
  assert.deepEqual([await balanceOf(usd), await balanceOf(btc)], [600, 5]);
  await create('trades', { ...TRADE, side: 'sell', deliver_amount: 5, receive_amount: 399, customer_guid });
  await simulate();
  assert.deepEqual([await balanceOf(usd), await balanceOf(btc)], [999, 0]);
});

test('amounts beyond 2^53 are exact', async () => {
  const customer_guid = await newCustomer();
  const eth = await accountOf(customer_guid, 'ETH', { balance: '9007199254740993' });
  await create('trades', {
    ...TRADE,
    symbol: 'ETH-USD',
    receive_amount: '10000000000000000001',
    customer_guid,
  });
  await simulate();
  assert.equal(await balanceOf(eth), '10009007199254740994');
});

test('a trade or transfer without the balance fails and changes nothing', async () => {
  const customer_guid = await newCustomer();
  const usd = await accountOf(customer_guid, 'USD', { balance: 399 });
  const btc = await accountOf(customer_guid, 'BTC', { balance: 7 });
  const trade = await create('trades', { ...TRADE, customer_guid });
  const transfer = await create('transfers', {
    ...{ ...TRANSFER, amount: 400, customer_guid, source_account_guid: usd },
  });
  await simulate();
  assert.deepEqual((await eventTypesOf(app, trade)).at(-1), 'trade.failed');
  assert.deepEqual(await eventTypesOf(app, transfer), [
    ...['transfer.storing', 'transfer.reviewing', 'transfer.failed'],
  ]);
  assert.deepEqual([await balanceOf(usd), await balanceOf(btc)], [399, 7]);
});

test('a completed transfer moves its amount between the accounts that it names', async () => {
  const customer_guid = await newCustomer();
  const [from, to] = [
    await accountOf(customer_guid, 'USD', { balance: 1_000 }),
    await accountOf(customer_guid, 'USD', { balance: 0 }),
  ];
  const names = { customer_guid, source_account_guid: from, destination_account_guid: to };
  await create('transfers', { ...TRANSFER, ...names });
  await simulate();
  assert.deepEqual([await balanceOf(from), await balanceOf(to)], [700, 300]);
  await create('transfers', {
    ...{ ...TRANSFER, transfer_type: 'funding', customer_guid, destination_account_guid: to },
  });
  await create('transfers', { ...TRANSFER, ...names, simulate: 'failed' });
  await create('transfers', {
    ...TRANSFER,
    customer_guid,
    source_account_guid: to,
    destination_account_guid: to,
  });
  await simulate();
  assert.deepEqual([await balanceOf(from), await balanceOf(to)], [700, 600]);
});

test('a quoted transfer delivers and receives the amounts of its quote', async () => {
  const customer_guid = await newCustomer();
  const account = await accountOf(customer_guid, 'USD', { balance: 0 });
  const quote = {
    product_type: 'funding',
    side: 'deposit',
    asset: 'USD',
    deliver_amount: 10_000,
    customer_guid,
  };
  await create('transfers', {
    ...{ quote_guid: await create('quotes', quote), destination_account_guid: account },
  });
  await simulate();
  assert.equal(await balanceOf(account), 9_990);
});

test('accounts without a balance, with another asset or of another kind are left alone', async () => {
  const customer_guid = await newCustomer();
  const without = await accountOf(customer_guid, 'USD');
  const reserve = await accountOf(customer_guid, 'USD', { type: 'reserve', balance: 1_000 });
  const euros = await create('accounts', { type: 'fiat', asset: 'EUR', balance: 9, customer_guid });
  const trade = await create('trades', { ...TRADE, customer_guid });
  const transfer = await create('transfers', {
    ...{ ...TRANSFER, customer_guid, source_account_guid: without, destination_account_guid: euros },
  });
  const unpriced = await create('trades', { side: 'buy', symbol: 'BTC-EUR', amount: 100, customer_guid });
  await simulate();
  for (const guid of [trade, unpriced]) assert.equal((await show('trades', guid)).state, 'completed');
  assert.equal((await show('transfers', transfer)).state, 'completed');
  assert.deepEqual(
    [await balanceOf(without), await balanceOf(reserve), await balanceOf(euros)],
    [undefined, 1_000, 9],
  );
});

test('the oldest account of the asset is used', async () => {
  const customer_guid = await newCustomer();
  const accounts = [];
  for (const balance of [500, 5_000]) accounts.push(await accountOf(customer_guid, 'USD', { balance }));
  await create('trades', { ...TRADE, customer_guid });
  await simulate();
  assert.deepEqual(await Promise.all(accounts.map(balanceOf)), [100, 5_000]);
});

test('falling below a threshold emits the event of the account, and rising none', async () => {
  const customer_guid = await newCustomer();
  const reserve = { balance: 1_000, low_balance: 700, minimum_balance: 300 };
  const account = await accountOf(customer_guid, 'USD', reserve);
  const withdraw = { ...TRANSFER, amount: 400, customer_guid, source_account_guid: account };
  await create('transfers', withdraw);
  await simulate();
  assert.deepEqual(await eventTypesOf(app, account), ['account.balance_funding_pull.low']);
  assert.equal((await show('accounts', account)).state, 'low');
  await create('transfers', withdraw);
  await simulate();
  const expected = ['account.balance_funding_pull.low', 'account.balance_funding_pull.below_minimum'];
  assert.deepEqual(await eventTypesOf(app, account), expected);
  await create('transfers', {
    ...{ ...TRANSFER, amount: 5_000, customer_guid, destination_account_guid: account },
  });
  await simulate();
  assert.deepEqual(await eventTypesOf(app, account), expected);
  assert.deepEqual(await show('accounts', account).then(({ state, balance }) => [state, balance]), [
    ...['funded', 5_200],
  ]);
});

test('many trades and transfers at once on two nodes lose nothing and create nothing', async () => {
  const customer_guid = await newCustomer();
  const accounts: string[] = [];
  for (let index = 0; index < 4; index += 1)
    accounts.push(await accountOf(customer_guid, 'USD', { balance: 1_000, low_balance: 900 }));
  // Simulated accounts are moved by the simulator too.
  await accountOf(customer_guid, 'USD', { ...{ balance: 1_000, low_balance: 900 }, simulate: 'low' });
  const at = (index: number) => accounts[index % accounts.length];
  await Promise.all(
    Array.from({ length: 120 }, (_, index) =>
      create('transfers', {
        ...{ ...TRANSFER, amount: 90 + index, customer_guid },
        ...{ source_account_guid: at(index), destination_account_guid: at(index * 3 + 1) },
      }),
    ),
  );
  await simulate();
  const balances = (await Promise.all(accounts.map(balanceOf))).map(Number);
  assert.equal(
    balances.reduce((sum, balance) => sum + balance, 0),
    4_000,
  );
  assert.ok(balances.every((balance) => balance >= 0));
  const unfinished = await app.database.queries
    .selectFrom('objects')
    .select('guid')
    .where('next_move_at', 'is not', null)
    .execute();
  assert.deepEqual(unfinished, []);
});

test('the number of statements does not depend on the number of objects', async () => {
  let statements = 0;
  const counter: KyselyPlugin = {
    transformQuery({ node }) {
      statements += 1;
      return node;
    },
    transformResult: async ({ result }) => result,
  };
  const rows: ObjectRow[] = [];
  for (let index = 0; index < 10; index += 1) {
    const customerGuid = await newCustomer();
    await accountOf(customerGuid, 'USD', { balance: 1_000 });
    const guid = await reportObject(app, 'trade', { ...owner, customerGuid }, { details: TRADE });
    const row = app.database.queries.selectFrom('objects').selectAll().where('guid', '=', guid);
    rows.push(await row.executeTakeFirstOrThrow());
  }
  for (const batch of [rows.slice(0, 1), rows]) {
    statements = 0;
    await app.database.transaction((transaction) =>
      lockBalances(transaction.withPlugin(counter), typeOf('account'), batch),
    );
    assert.equal(statements, 2);
  }
});

test('a report cannot make the simulator change an account of another customer', async () => {
  const [customerGuid, victim] = [await newCustomer(), await newCustomer()];
  const account = await accountOf(victim, 'USD', { balance: 1_000 });
  const guid = await create('transfers', { ...TRANSFER, customer_guid: customerGuid });
  const { status } = await app.operate('PUT', `/objects/transfer/${guid}`, {
    ...{
      bank_guid: owner.bankGuid,
      state: 'storing',
      details: { ...TRANSFER, source_account_guid: account },
    },
  });
  assert.equal(status, 200);
  await simulate();
  assert.deepEqual([(await show('transfers', guid)).state, await balanceOf(account)], ['completed', 1_000]);
});
