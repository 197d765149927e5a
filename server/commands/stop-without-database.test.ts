import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createDispatching, newEvents, untilQueueIsEmpty } from '../../testing/dispatching.ts';
import { createReceiver, hold } from '../../testing/receiver.ts';
import { BOUNDED } from '../../testing/serve.ts';
import { createSilentProxy } from '../../testing/silent-proxy.ts';

const ARRIVE_WITHIN_MS = 60_000;
/** Short, because the silent database uses all of it. */
const LIMIT = '3s';

for (const away of ['refuseAll', 'silenceAll'] as const)
  test(`SIGTERM while the database is away (${away}) ends with 0 and loses nothing`, BOUNDED, async (t) => {
    const receiver = await createReceiver();
    const dispatching = await createDispatching(t);
    const proxy = await createSilentProxy(dispatching.databaseUrl);
    t.after(proxy.close);
    const running = dispatching.startDispatcher({
      PORTICO_DATABASE_URL: proxy.url.reveal(),
      PORTICO_SHUTDOWN_LIMIT: LIMIT,
    });
    const endpoint = await dispatching.createEndpoint(receiver.url);
    await receiver.waitForCount(1, ARRIVE_WITHIN_MS);
    await untilQueueIsEmpty(dispatching, running);
    const held = hold();
    receiver.behave(held);
    const [event] = newEvents(endpoint, 1);
    assert.ok(event);
    await dispatching.post([event]);
    await receiver.waitForCount(2, ARRIVE_WITHIN_MS);

    proxy[away]();
    running.kill('SIGTERM');
    held.release();
    const { code, signal, err } = await running.exited;
    assert.deepEqual({ code, signal, err }, { code: 0, signal: null, err: '' });
    assert.deepEqual(
      await dispatching.select('select completed_at from deliveries where event_guid = $1', event.guid),
      [null],
      'it is still to be delivered',
    );
    assert.equal((await dispatching.select('select 1 from delivery_queue')).length, 1);
  });
