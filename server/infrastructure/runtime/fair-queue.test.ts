import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFairQueue, SHED } from './fair-queue.ts';

/** Runs one job at a time, each ended by the test; names are `<source><number>`. */
function createQueue({ maxWaiting, maxWaitingPerSource = maxWaiting }: Bounds) {
  const bounds = { maxWaiting, maxWaitingPerSource };
  const queue = createFairQueue({ atOnce: 1, classes: { first: bounds, second: bounds } });
  const started: string[] = [];
  const shed: string[] = [];
  let end: (error?: Error) => void = () => undefined;
  function run(name: string, queueClass: 'first' | 'second' = 'first'): Promise<unknown> {
    const work = () =>
      new Promise<string>((resolve, reject) => {
        started.push(name);
        end = (error) => (error ? reject(error) : resolve(name));
      });
    return queue.run(queueClass, name.charAt(0), work).then((outcome) => {
      if (outcome === SHED) shed.push(name);
      return outcome;
    });
  }
  async function endAll(): Promise<void> {
    for (let before = -1; before < started.length; ) {
      before = started.length;
      end();
      await nextTurn();
    }
  }
  return { queue, started, shed, run, end: (error?: Error) => end(error), endAll };
}
type Bounds = { maxWaiting: number; maxWaitingPerSource?: number };

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

test('sources alternate, each in its own order', async () => {
  const { started, run, endAll } = createQueue({ maxWaiting: 10 });
  for (const name of ['a1', 'a2', 'a3', 'b1', 'b2', 'c1']) void run(name);
  await endAll();
  assert.deepEqual(started, ['a1', 'a2', 'b1', 'c1', 'a3', 'b2']);
});

test('classes alternate, however much waits in the other', async () => {
  const { started, run, endAll } = createQueue({ maxWaiting: 10 });
  for (const name of ['a1', 'b1', 'c1', 'd1']) void run(name);
  for (const name of ['x1', 'y1']) void run(name, 'second');
  await endAll();
  assert.deepEqual(started, ['a1', 'b1', 'x1', 'c1', 'y1', 'd1']);
});

test('a source over its waiting limit is rejected', async () => {
  const { shed, run } = createQueue({ maxWaiting: 10, maxWaitingPerSource: 2 });
  for (const name of ['a0', 'a1', 'a2', 'a3', 'b1']) void run(name);
  await nextTurn();
  assert.deepEqual(shed, ['a3']);
});

test('a full class accepts a new source, and the largest source loses its newest job', async () => {
  const { started, shed, run, endAll } = createQueue({ maxWaiting: 4 });
  for (const name of ['z0', 'a1', 'b1', 'b2', 'b3', 'c1', 'b4']) void run(name);
  await nextTurn();
  assert.deepEqual(shed, ['b3', 'b4']);
  void run('x1', 'second');
  await endAll();
  assert.deepEqual(started, ['z0', 'a1', 'x1', 'b1', 'c1', 'b2']);
});

test('among equal sources the longest waiting job is shed, so that the last of a flood is served', async () => {
  const { started, shed, run, endAll } = createQueue({ maxWaiting: 3 });
  for (const name of ['z0', 'a1', 'b1', 'c1', 'd1', 'e1']) void run(name);
  await nextTurn();
  assert.deepEqual(shed, ['a1', 'b1']);
  await endAll();
  assert.deepEqual(started, ['z0', 'c1', 'd1', 'e1']);
});

test('failed work frees its slot and rejects only its own caller', async () => {
  const { run, end, endAll } = createQueue({ maxWaiting: 1 });
  const [failing, next] = [run('a1'), run('b1')];
  end(new Error('broken'));
  await assert.rejects(failing, /broken/);
  await endAll();
  assert.equal(await next, 'b1');
});

test('idle waits for running and waiting work', async () => {
  const { queue, run, end } = createQueue({ maxWaiting: 1 });
  await queue.idle();
  for (const name of ['a1', 'b1']) void run(name);
  let idle = false;
  const waiting = queue.idle().then(() => {
    idle = true;
  });
  end();
  await nextTurn();
  assert.equal(idle, false);
  end();
  await waiting;
});
