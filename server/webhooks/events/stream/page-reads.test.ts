import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPageReads } from './page-reads.ts';
import type { StreamedEvent, StreamPage } from './stream-store.ts';

const horizon = { snapshot: '5:5:', floorMs: 0, database: '' };

function pageOf(organizationGuid: string, after: number): StreamPage {
  return {
    ...{ organizationGuid, environments: ['sandbox'], from: horizon, to: horizon },
    after: after.toString(16).padStart(32, '0'),
  };
}

test('Organizations take turns, and streams at the same position share a read', async () => {
  const order: string[] = [];
  const reads: PromiseWithResolvers<StreamedEvent[]>[] = [];
  const read = createPageReads(({ organizationGuid }) => {
    order.push(organizationGuid);
    const next = Promise.withResolvers<StreamedEvent[]>();
    reads.push(next);
    return next.promise;
  });
  const pending = [...Array(20).keys()].map((index) => read(pageOf('many', index)));
  pending.push(...[0, 0, 1].map((index) => read(pageOf('one', index))));
  while (order.length < 22 || reads.length > 0) {
    reads.shift()?.resolve([]);
    await new Promise(setImmediate);
  }
  await Promise.all(pending);
  assert.deepEqual(order.slice(0, 7), ['many', 'many', 'many', 'one', 'many', 'one', 'many']);
  assert.equal(order.filter((name) => name === 'one').length, 2);
});
