import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createCounter, createDispatching, stop } from '../../testing/dispatching.ts';
import { BOUNDED, type Running, waitFor } from '../../testing/serve.ts';

/** Real processes: `api` creates an object, `dispatch` simulates it, is killed, and another one continues. */
test('dispatchers simulate objects of the API, also after one was killed', BOUNDED, async (t) => {
  const counter = await createCounter(t);
  const { url, operate, select, createEndpoint, startDispatcher, queued } = await createDispatching(t);
  const { organizationGuid, bankGuid } = await createEndpoint(counter.url);
  const key = await operate(`/banks/${bankGuid}/applications`, { name: 'Key' });

  async function post(path: string, body: object, token?: unknown) {
    const response = await fetch(`${url}${path}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(token ? { authorization: `Bearer ${token}` } : {}),
      },
      body: JSON.stringify(body),
    });
    const answer = (await response.json()) as Record<string, unknown>;
    assert.ok(response.ok, JSON.stringify(answer));
    return answer;
  }
  const scope = 'customers:execute trades:execute';
  const { client_id, client_secret } = key;
  const grant = { grant_type: 'client_credentials', client_id, client_secret, scope };
  const { access_token } = await post('/oauth/token', grant);
  const customer = await post('/api/customers', { type: 'individual' }, access_token);
  const input = { side: 'buy', symbol: 'BTC-USD', amount: 1, customer_guid: customer.guid };

  const killed = startDispatcher();
  const trade = await post('/api/trades', input, access_token);
  const statesTold = () =>
    select<string>('select event_type from events where object_guid = $1 order by guid', trade.guid);
  const reached = (count: number, by: Running) =>
    waitFor(`state ${count}`, by, async () => (await statesTold()).length >= count);
  await reached(2, killed);
  killed.kill('SIGKILL');
  await killed.exited;

  const next = startDispatcher();
  await reached(5, next);
  assert.deepEqual(
    await statesTold(),
    ['storing', 'pending', 'executed', 'settling', 'completed'].map((state) => `trade.${state}`),
  );
  await waitFor('an empty queue', next, async () => (await queued()) === 0);
  const sent = await select<string>('select guid from events where organization_guid = $1', organizationGuid);
  const arrived = new Set(counter.arrivals.map(({ guid }) => guid));
  const afterwards = sent.map((guid) => guid.replaceAll('-', '')).filter((guid) => arrived.has(guid));
  assert.equal(afterwards.length, 6, 'five of the trade, and subscription.storing');
  await stop(next);
});
