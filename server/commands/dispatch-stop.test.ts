import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import {
  createDispatching,
  keyOf,
  newEvents,
  stop,
  untilQueueIsEmpty,
} from '../../testing/app/dispatching.ts';
import { BOUNDED, type Running, waitFor } from '../../testing/app/serve.ts';
import { createSilentProxy } from '../../testing/database/silent-proxy.ts';
import { createTestEndpoint, hold } from '../../testing/webhooks/test-endpoint.ts';
import { guidsAt } from '../../testing/webhooks/webhooks.ts';

const EVENTS = 300;
/** The first event, and one that waits. How many more are in flight depends on how fast the first answer was. */
const RECEIVED_BEFORE_STOP = 2;
/** A slow machine may take longer than the default to record outcomes. */
const LONG_SHUTDOWN = { PORTICO_SHUTDOWN_LIMIT: '60s' };
/** Short: a silent database uses all of it. */
const SHORT_SHUTDOWN = { PORTICO_SHUTDOWN_LIMIT: '3s' };

type Command = 'dispatch' | 'serve';

const dispatching = await createDispatching({ after }, LONG_SHUTDOWN);
const { select, dispatchers, eventsDelivered } = dispatching;
const start = async (command: Command) =>
  command === 'serve' ? await dispatching.serve() : dispatching.startDispatcher();
/** The process that a test stops. The next one finishes the work, and is stopped by the next test. */
let running = await start('dispatch');

/** An endpoint that has answered its first event, subscription.storing. */
async function createProvenEndpoint() {
  const receiver = await createTestEndpoint();
  const endpoint = await dispatching.createEndpoint(receiver.url);
  await receiver.waitForCount(1);
  await waitFor('its record', running, async () => (await eventsDelivered(true, endpoint)).length === 1);
  return { receiver, endpoint };
}

/** Sends SIGTERM; returns the requests in flight once the dispatcher starts no further ones. */
async function beginStop(stopped: Running): Promise<number> {
  stopped.kill('SIGTERM');
  const lines = () => stopped.out().split('\n').slice(0, -1);
  const find = () => lines().find((line) => line.includes('stopping the dispatcher'));
  await waitFor('the stop of the dispatcher', stopped, () => find() !== undefined);
  return JSON.parse(find() ?? '').in_flight;
}

async function assertStopped({ exited }: Running): Promise<void> {
  const { code, signal, err } = await exited;
  assert.deepEqual({ code, signal, err }, { code: 0, signal: null, err: '' });
}

for (const [command, next] of [
  ['dispatch', 'serve'],
  ['serve', 'serve'],
] as const)
  test(`SIGTERM to ${command} finishes requests in flight and releases the rest`, BOUNDED, async () => {
    const { receiver, endpoint } = await createProvenEndpoint();
    const held = hold();
    receiver.behave(held);
    const events = newEvents(endpoint, EVENTS);
    // To the process itself if it accepts events.
    await dispatching.post(events, command === 'serve' ? dispatching.besidesUrl : undefined);
    await receiver.waitForCount(RECEIVED_BEFORE_STOP);

    const inFlight = await beginStop(running);
    const late = newEvents(endpoint, 1);
    await dispatching.post(late);
    assert.equal((await eventsDelivered(true, endpoint)).length, 1, 'nothing was answered before the signal');
    receiver.behave({ kind: 'answer' });
    held.release();
    await assertStopped(running);

    const sent = 1 + inFlight;
    assert.equal(receiver.received.length, sent, 'no request was started after the signal');
    const timeouts = await dispatching.timeouts();
    const isTimedOut = (guid: string) => timeouts.has(keyOf({ path: '/', guid }));
    const timedOut = guidsAt(receiver).filter(isTimedOut);
    const answered = guidsAt(receiver).filter((guid) => !isTimedOut(guid));
    assert.deepEqual((await eventsDelivered(true, endpoint)).sort(), answered.sort());
    const waiting = await select<string | null>('select leased_by from delivery_queue');
    assert.equal(waiting.length, 1 + events.length + late.length - answered.length);
    assert.deepEqual(new Set(waiting), new Set([null]), 'all leases are released');
    assert.deepEqual(await dispatchers(), []);

    running = await start(next);
    await untilQueueIsEmpty(dispatching, running);
    const expected = [...[...events, ...late].map(({ guid }) => guid), ...timedOut];
    assert.deepEqual(guidsAt(receiver).slice(1).sort(), expected.sort(), 'each exactly once');
  });

test('an endpoint that never answers delays the stop by one exchange at most', BOUNDED, async () => {
  const { receiver, endpoint } = await createProvenEndpoint();
  receiver.behave({ kind: 'hang' });
  const events = newEvents(endpoint, EVENTS);
  await dispatching.post(events, dispatching.besidesUrl);
  await receiver.waitForCount(RECEIVED_BEFORE_STOP);
  const inFlight = await beginStop(running);
  await assertStopped(running);

  const hung = guidsAt(receiver).slice(1);
  assert.equal(hung.length, inFlight, 'no request was started after the signal');
  const [timeouts] = await select<string>(
    `select count(*) from deliveries where attempt_count = 1 and failure_kind = 'timeout'
       and event_guid = any($1::uuid[])`,
    hung,
  );
  assert.equal(Number(timeouts), hung.length, 'each is recorded as a timeout');
  assert.deepEqual(await dispatchers(), []);
  assert.deepEqual(await select('select 1 from delivery_queue where leased_by is not null'), []);

  receiver.behave({ kind: 'answer' });
  const next = await start('dispatch');
  await untilQueueIsEmpty(dispatching, next);
  await stop(next);
  const expected = [...events.map(({ guid }) => guid), ...hung];
  assert.deepEqual(guidsAt(receiver).slice(1).sort(), expected.sort());
});

for (const away of ['refuseAll', 'silenceAll'] as const)
  test(`SIGTERM while the database is away (${away}) exits with 0 and loses nothing`, BOUNDED, async (t) => {
    const proxy = await createSilentProxy(dispatching.databaseUrl);
    t.after(proxy.close);
    running = dispatching.startDispatcher({
      PORTICO_DATABASE_URL: proxy.url.reveal(),
      ...SHORT_SHUTDOWN,
    });
    const { receiver, endpoint } = await createProvenEndpoint();
    const held = hold();
    receiver.behave(held);
    const [event] = newEvents(endpoint, 1);
    assert.ok(event);
    await dispatching.post([event]);
    await receiver.waitForCount(2);

    proxy[away]();
    running.kill('SIGTERM');
    held.release();
    await assertStopped(running);
    assert.deepEqual(await eventsDelivered(false, endpoint), [event.guid], 'it is still to be delivered');
    const queued = 'select 1 from delivery_queue where subscription_guid = $1';
    assert.equal((await select(queued, endpoint.subscriptionGuid)).length, 1);
  });
