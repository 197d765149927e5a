import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Portico } from '../../../sdk/src/index.ts';
import type { Context } from '../command.ts';
import { createWatch } from './deliveries.ts';

test('of many deliveries that have left the list, each change is printed', async () => {
  const deliveries = Array.from({ length: 250 }, (_, index) => ({ guid: `${index}`, state: 'failing' }));
  const asked: (readonly string[])[] = [];
  let listed = deliveries;
  function list({ guid }: { guid?: readonly string[] }) {
    if (guid) asked.push(guid);
    const found = guid ? deliveries.filter((each) => guid.includes(each.guid)) : [...listed];
    return { toArray: async () => found };
  }
  const printed: { guid: string; state: string }[] = [];
  const context = {
    io: { stdout: { write: (line: string) => printed.push(JSON.parse(line)) }, env: {} },
    options: { flag: () => true, text: () => undefined, texts: () => [] },
  } as unknown as Context;
  const printChanges = createWatch(context, { subscriptionDeliveries: { list } } as unknown as Portico);
  await printChanges();
  assert.equal(printed.splice(0).length, deliveries.length);
  listed = [];
  const completed = [...deliveries.slice(0, 2), ...deliveries.slice(-2)];
  for (const delivery of completed) delivery.state = 'completed';
  for (let polls = 0; polls < 4; polls += 1) await printChanges();
  assert.deepEqual(
    printed.sort((a, b) => Number(a.guid) - Number(b.guid)),
    completed,
  );
  assert.ok(
    asked.every(({ length }) => length <= 100),
    'the service accepts 100 guids',
  );
});
