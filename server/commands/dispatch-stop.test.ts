import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import {
  createDispatching,
  type Dispatching,
  type Endpoint,
  newEvents,
  stop,
  untilQueueIsEmpty,
} from '../../testing/dispatching.ts';
import { BOUNDED, type Running, waitFor } from '../../testing/serve.ts';
import { createTestEndpoint, hold } from '../../testing/test-endpoint.ts';
import { guidsAt } from '../../testing/webhooks.ts';
import { START_LIMIT } from '../webhooks/deliveries/queue/lanes/limit.ts';
import { EXCHANGE_TIMEOUT_MS } from '../webhooks/deliveries/sending/exchange.ts';

const EVENTS = 300;
/** Requests in flight to an endpoint that has answered once. */
const UNDER_WAY = START_LIMIT + 1;
const ARRIVE_WITHIN_MS = 60_000;
/** A dispatcher that still claims polls once a second, so by then it would have claimed due deliveries. */
const CLAIMED_WITHIN_MS = 2_000;
/** For the rest of the work on a busy machine; less than a second exchange takes. */
const SECONDS = 8_000;

type Command = 'dispatch' | 'serve';

/** An endpoint that has answered its first event, and a process that knows it. */
async function createStopping(t: TestContext, command: Command) {
  const receiver = await createTestEndpoint();
  const dispatching = await createDispatching(t);
  const running = await (command === 'serve' ? dispatching.serve() : dispatching.startDispatcher());
  const endpoint = await dispatching.createEndpoint(receiver.url);
  // The first event of a subscription is subscription.storing.
  await receiver.waitForCount(1, ARRIVE_WITHIN_MS);
  await untilQueueIsEmpty(dispatching, running);
  const events = newEvents(endpoint, EVENTS);
  /** To the process itself if it accepts events. */
  const post = () => dispatching.post(events, command === 'serve' ? dispatching.besidesUrl : undefined);
  return { receiver, dispatching, running, endpoint, events: events.map(({ guid }) => guid), post };
}

/** Posts events to the `api` repeatedly until one is not claimed; returns the guids of all. */
async function untilNothingIsClaimed({ post, select, api }: Dispatching, endpoint: Endpoint) {
  const probes: string[] = [];
  for (let isClaimed = true; isClaimed; ) {
    const [probe] = newEvents(endpoint, 1);
    assert.ok(probe);
    await post([probe]);
    probes.push(probe.guid);
    const postedAt = Date.now();
    const isLeased = async () =>
      (
        await select<boolean>(
          `select leased_by is not null from delivery_queue join deliveries as d on d.guid = delivery_guid
           where event_guid = $1`,
          probe.guid,
        )
      )[0] !== false;
    await waitFor('a claim or none', api, async () => {
      isClaimed = await isLeased();
      return isClaimed || Date.now() - postedAt > CLAIMED_WITHIN_MS;
    });
  }
  return probes;
}

async function assertStopped({ exited }: Running): Promise<void> {
  const { code, signal, err } = await exited;
  assert.deepEqual({ code, signal, err }, { code: 0, signal: null, err: '' });
}

for (const command of ['dispatch', 'serve'] as const)
  test(`SIGTERM to ${command} finishes requests in flight and releases the rest`, BOUNDED, async (t) => {
    const { receiver, dispatching, running, endpoint, events, post } = await createStopping(t, command);
    const held = hold();
    receiver.behave(held);
    await post();
    await receiver.waitForCount(1 + UNDER_WAY, ARRIVE_WITHIN_MS);

    running.kill('SIGTERM');
    const probes = await untilNothingIsClaimed(dispatching, endpoint);
    const underWay = receiver.received.length;
    assert.equal(
      (await dispatching.eventsDelivered(true)).length,
      1,
      'nothing was answered before the signal',
    );
    receiver.behave({ kind: 'answer' });
    held.release();
    await assertStopped(running);

    assert.equal(receiver.received.length, underWay, 'no request was started after the signal');
    assert.deepEqual((await dispatching.eventsDelivered(true)).sort(), guidsAt(receiver).sort());
    const waiting = await dispatching.select<string | null>('select leased_by from delivery_queue');
    assert.equal(waiting.length, 1 + events.length + probes.length - underWay);
    assert.deepEqual(new Set(waiting), new Set([null]), 'all leases are released');
    assert.deepEqual(await dispatching.dispatchers(), []);

    const next = dispatching.startDispatcher();
    await untilQueueIsEmpty(dispatching, next);
    await stop(next);
    const expected = [...events, ...probes].sort();
    assert.deepEqual(guidsAt(receiver).slice(1).sort(), expected, 'each exactly once');
  });

test('an endpoint that never answers delays the stop by one exchange at most', BOUNDED, async (t) => {
  const { receiver, dispatching, running, events, post } = await createStopping(t, 'serve');
  receiver.behave({ kind: 'hang' });
  await post();
  await receiver.waitForCount(1 + UNDER_WAY, ARRIVE_WITHIN_MS);
  const stoppedAt = Date.now();
  running.kill('SIGTERM');
  await assertStopped(running);
  const tookMs = Date.now() - stoppedAt;
  assert.ok(tookMs < EXCHANGE_TIMEOUT_MS + SECONDS, `it took ${tookMs} ms`);

  const hung = guidsAt(receiver).slice(1);
  const [timeouts] = await dispatching.select<string>(
    `select count(*) from deliveries where attempt_count = 1 and failure_kind = 'timeout'
       and event_guid = any($1::uuid[])`,
    hung,
  );
  assert.equal(Number(timeouts), hung.length, 'each is recorded as a timeout');
  assert.deepEqual(await dispatching.dispatchers(), []);
  assert.deepEqual(await dispatching.select('select 1 from delivery_queue where leased_by is not null'), []);

  receiver.behave({ kind: 'answer' });
  const next = dispatching.startDispatcher();
  await untilQueueIsEmpty(dispatching, next);
  await stop(next);
  assert.deepEqual(guidsAt(receiver).slice(1).sort(), [...events, ...hung].sort());
});
