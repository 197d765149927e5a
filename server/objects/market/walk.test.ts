import assert from 'node:assert/strict';
import { test } from 'node:test';
import { objectsOf } from '../../../testing/api/answers.ts';
import { createTenant, tokenOf } from '../../../testing/app/tenant.ts';
import { createCustomer } from '../../../testing/objects/customers.ts';
import { createSubscription } from '../../../testing/webhooks/subscriptions.ts';
import { createTestEndpoint } from '../../../testing/webhooks/test-endpoint.ts';
import { createDispatchingApp, eventIn, until } from '../../../testing/webhooks/webhooks.ts';

/** The flow of `docs/partners/trading.md`, with a key that a partner has. */
const app = await createDispatchingApp();
const tenant = await createTenant(app);
const endpoint = await createTestEndpoint();
await createSubscription(app, tenant, { url: endpoint.url });
await app.dispatcher.drain();

test('price → quote → trade → webhooks → balances', async () => {
  const scopes = 'prices:read quotes:execute trades:execute trades:read accounts:execute accounts:read';
  const token = await tokenOf(app, tenant.bankKey, scopes);
  const customer_guid = await createCustomer(app, tenant.bankGuid);
  const get = async (path: string) => (await app.call({ url: `/api/${path}`, token })).body;
  const create = async (plural: string, payload: object) => {
    const { status, body } = await app.call({ method: 'POST', url: `/api/${plural}`, token, payload });
    assert.equal(status, 201, JSON.stringify(body));
    return body;
  };
  const accounts = [
    await create('accounts', { type: 'fiat', asset: 'USD', balance: 500_000, customer_guid }),
    await create('accounts', { type: 'trading', asset: 'BTC', balance: 0, customer_guid }),
  ];
  const [price] = objectsOf(await app.call({ url: '/api/prices?symbol=BTC-USD', token }));

  const quote = await create('quotes', {
    ...{ product_type: 'trading', side: 'buy', symbol: 'BTC-USD', deliver_amount: 100_000, customer_guid },
  });
  assert.equal(quote.fee, 500);
  assert.equal(
    quote.receive_amount,
    Number((99_500n * 100_000_000n) / BigInt(String(price?.buy_price))),
    'at the price that was shown',
  );

  const trade = await create('trades', { quote_guid: quote.guid });
  const states = ['storing', 'pending', 'executed', 'settling', 'completed'];
  await until(async () => {
    app.clock.advance(1_000);
    await app.simulator.drain();
    await app.dispatcher.drain();
    return endpoint.received.length > states.length;
  }, 'the webhooks');
  const received = endpoint.received.map(eventIn).filter(({ object_guid }) => object_guid === trade.guid);
  assert.deepEqual(
    received.map(({ event_type }) => event_type).sort(),
    states.map((state) => `trade.${state}`).sort(),
  );

  assert.equal((await get(`trades/${trade.guid}`)).state, 'completed');
  const balances = await Promise.all(
    accounts.map(async ({ guid }) => (await get(`accounts/${guid}`)).balance),
  );
  assert.deepEqual(balances, [400_000, quote.receive_amount]);
});
