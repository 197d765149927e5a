import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createWorkQueue } from './work-queue.ts';

function createWork() {
  const started: number[] = [];
  const finish = new Map<number, (error?: Error) => void>();
  const work = (number: number) => () =>
    new Promise<number>((resolve, reject) => {
      started.push(number);
      finish.set(number, (error) => (error ? reject(error) : resolve(number)));
    });
  return { started, finish, work };
}

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

test('runs a limited number at once, the rest in order, and rejects work over the limit', async () => {
  const { started, finish, work } = createWork();
  const queue = createWorkQueue({ atOnce: 2, maxWaiting: 2 });
  const results = [1, 2, 3, 4].map((number) => queue.run(work(number)));
  assert.deepEqual(started, [1, 2]);
  assert.equal(queue.run(work(5)), undefined);
  finish.get(2)?.();
  assert.equal(await results[1], 2);
  await nextTurn();
  assert.deepEqual(started, [1, 2, 3]);
  finish.get(1)?.();
  await nextTurn();
  for (const number of [3, 4]) finish.get(number)?.();
  assert.deepEqual(await Promise.all(results), [1, 2, 3, 4]);
});

test('failed work frees its slot and rejects only its own caller', async () => {
  const { started, finish, work } = createWork();
  const queue = createWorkQueue({ atOnce: 1, maxWaiting: 1 });
  const [failing, next] = [queue.run(work(1)), queue.run(work(2))];
  finish.get(1)?.(new Error('broken'));
  await assert.rejects(failing as Promise<number>, /broken/);
  await nextTurn();
  assert.deepEqual(started, [1, 2]);
  finish.get(2)?.();
  assert.equal(await next, 2);
});

test('idle waits for running and waiting work', async () => {
  const { finish, work } = createWork();
  const queue = createWorkQueue({ atOnce: 1, maxWaiting: 1 });
  await queue.idle();
  for (const number of [1, 2]) void queue.run(work(number));
  let idle = false;
  const waiting = queue.idle().then(() => {
    idle = true;
  });
  finish.get(1)?.();
  await nextTurn();
  assert.equal(idle, false);
  finish.get(2)?.();
  await waiting;
  assert.equal(idle, true);
});
