import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSdkService } from '../../../testing/packages/sdk.ts';

const { tenant, sent, ...service } = await createSdkService();
const portico = service.portico();
const COUNT = 7;
const guids: string[] = [];
for (let made = 0; made < COUNT; made += 1) {
  const labels = [made % 2 === 0 ? 'even' : 'odd'];
  const customer = { type: 'individual', bank_guid: tenant.bankGuid, labels } as const;
  guids.unshift((await portico.customers.create(customer)).guid);
}
sent.length = 0;

async function guidsOf(list: AsyncIterable<{ guid: string }>): Promise<string[]> {
  const found: string[] = [];
  for await (const { guid } of list) found.push(guid);
  return found;
}

test('a list is walked by its keys, and objects that are added meanwhile do not shift it', async () => {
  const seen: string[] = [];
  for await (const { guid } of portico.customers.list({ per_page: 3 })) {
    seen.push(guid);
    if (seen.length === 2) await portico.customers.create({ type: 'business', bank_guid: tenant.bankGuid });
  }
  assert.deepEqual(seen, guids);
  const pages = sent.splice(0).filter(({ method }) => method === 'GET');
  assert.deepEqual(
    pages.map(({ path }) => path),
    ['', `&after=${guids[2]}`, `&after=${guids[5]}`].map((after) => `/api/customers?per_page=3${after}`),
  );
});

test('filters take several values and dates', async () => {
  const even = guids.filter((_, index) => index % 2 === 0);
  assert.deepEqual(await guidsOf(portico.customers.list({ label: 'even' })), even);
  assert.deepEqual(await guidsOf(portico.customers.list({ label: ['even', 'odd'] })), guids);
  const future = new Date(service.app.clock.now().getTime() + 1_000);
  assert.deepEqual(await guidsOf(portico.customers.list({ created_at_gte: future })), []);
  await assert.rejects(guidsOf(portico.customers.list({ per_page: 0 })), { name: 'InvalidParameterError' });
});

test('the pages show the total; the first objects are an array', async () => {
  for await (const { total, objects } of portico.customers.list({ label: 'odd' }).pages())
    assert.deepEqual([total, objects.length], [3, 3]);
  sent.length = 0;
  const first = await portico.customers.list({ type: 'individual' }).toArray({ limit: 2 });
  assert.deepEqual(
    first.map(({ guid }) => guid),
    guids.slice(0, 2),
  );
  assert.deepEqual(
    sent.map(({ path }) => path),
    ['/api/customers?per_page=2&type=individual'],
  );
  assert.deepEqual(await portico.customers.list().toArray({ limit: 0 }), []);
});

test('a walk that is left asks for no further page', async () => {
  sent.length = 0;
  for await (const _ of portico.customers.list({ per_page: 2 })) break;
  assert.equal(sent.length, 1);
});
