import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EventType, WebhookEvent } from './event.ts';
import { createReceiver, type ReceiverOptions } from './receiver.ts';
import { createMemorySeenStore } from './seen.ts';
import { signWebhook } from './sign.ts';

const KEY = '0123456789abcdef'.repeat(4);
let made = 0;

async function signed(event_type: EventType | 'new.type' = 'transfer.completed', key = KEY) {
  made += 1;
  const guid = made.toString(16).padStart(32, '0');
  const event = {
    guid,
    organization_guid: 'o',
    bank_guid: 'b',
    event_type,
    object_guid: 'g',
    environment: 'sandbox',
  };
  const body = JSON.stringify(event);
  return { event, body, headers: await signWebhook(body, key, { guid }) };
}

function createTestReceiver(options: Partial<ReceiverOptions> = {}) {
  const handled: WebhookEvent[] = [];
  const errors: unknown[] = [];
  const receiver = createReceiver({
    keys: KEY,
    on: { 'transfer.completed': (event) => void handled.push(event) },
    onError: (error) => errors.push(error),
    ...options,
  });
  const receive = async ({ body, headers }: Awaited<ReturnType<typeof signed>>) => {
    const { status, body: text, work } = await receiver.receive(body, headers);
    return { status, answer: JSON.parse(text), work };
  };
  return { receiver, receive, handled, errors };
}

test('the answer is ready before the handler runs', async () => {
  const { receive, handled } = createTestReceiver();
  const request = await signed();
  const { status, answer, work } = await receive(request);
  assert.deepEqual([status, answer, handled.length], [200, { received: request.event.guid }, 0]);
  await work?.();
  assert.deepEqual(handled, [request.event]);
});

test('handlers have the type of their event', () => {
  createReceiver({
    keys: [],
    on: {
      'transfer.completed': ({ event_type }) => event_type satisfies 'transfer.completed',
      'trade.failed': async ({ event_type }) => event_type satisfies 'trade.failed',
      '*': ({ event_type }) => event_type satisfies EventType,
      // @ts-expect-error There is no such event.
      'transfer.exploded': () => {},
    },
  });
});

test('a repeated event is answered and not handled again, also when both arrive at once', async () => {
  const { receive, handled } = createTestReceiver();
  const request = await signed();
  const receipts = await Promise.all([receive(request), receive(request)]);
  for (const { work } of receipts) await work?.();
  receipts.push(await receive(request));
  assert.deepEqual(
    receipts.map(({ status }) => status),
    [200, 200, 200],
  );
  assert.deepEqual(receipts.filter(({ answer }) => answer.duplicate === request.event.guid).length, 2);
  assert.equal(handled.length, 1);
});

test('an event without a handler is answered; the general one gets the others', async () => {
  const { receive } = createTestReceiver();
  const { status, answer, work } = await receive(await signed('trade.failed'));
  assert.deepEqual([status, answer, work], [200, { ignored: 'trade.failed' }, undefined]);
  const types: string[] = [];
  const general = createTestReceiver({ on: { '*': ({ event_type }) => types.push(event_type) } });
  await (await general.receive(await signed('new.type'))).work?.();
  assert.deepEqual(types, ['new.type']);
});

test('a request that is not genuine gets 401 with the check that failed', async () => {
  const { receive, handled, errors } = createTestReceiver();
  const { status, answer } = await receive(await signed('transfer.completed', 'f'.repeat(64)));
  assert.deepEqual([status, answer.error], [401, 'signature_mismatch']);
  assert.deepEqual([handled, errors], [[], []]);
});

test('a mistake of the receiving program is reported, too', async () => {
  const { receiver, errors } = createTestReceiver({ keys: [] });
  const { body, headers, event } = await signed();
  assert.equal((await receiver.receive(event as never, headers)).status, 401);
  assert.equal((await receiver.receive(body, headers)).status, 401);
  assert.deepEqual(
    errors.map((error) => (error as { check?: string }).check),
    ['body_not_raw', 'signing_key_missing'],
  );
});

test('an error of onError neither rejects nor changes the answer', async (t) => {
  const reported = t.mock.method(console, 'error', () => undefined);
  const { receive } = createTestReceiver({
    on: { 'transfer.completed': () => Promise.reject(new Error('not now')) },
    onError: () => Promise.reject(new Error('no log')),
  });
  const { status, work } = await receive(await signed());
  await work?.();
  assert.equal(status, 200);
  assert.match(String(reported.mock.calls[0]?.arguments[1]), /no log/);
});

test('keys can change while the receiver runs', async () => {
  const keys = ['f'.repeat(64)];
  const { receive } = createTestReceiver({ keys: async () => keys });
  assert.equal((await receive(await signed())).status, 401);
  keys.push(KEY);
  assert.equal((await receive(await signed())).status, 200);
});

test('an event whose handler failed is handled when it is delivered again', async () => {
  let fails = true;
  const { receive, errors } = createTestReceiver({
    on: {
      'transfer.completed': () => {
        if (fails) throw new Error('not now');
      },
    },
  });
  const request = await signed();
  await (await receive(request)).work?.();
  assert.match(String(errors), /not now/);
  fails = false;
  const again = await receive(request);
  assert.ok(again.work);
  await again.work();
  assert.equal(errors.length, 1);
});

test('when the store fails the event is not accepted', async () => {
  const { receive, errors } = createTestReceiver({
    seen: {
      add: () => Promise.reject(new Error('no database')),
      remove: () => {},
    },
  });
  const { status, work } = await receive(await signed());
  assert.deepEqual([status, work], [500, undefined]);
  assert.match(String(errors), /no database/);
});

test('a durable store knows which events were handled, and the others can be processed later', async () => {
  const kept = new Map<string, WebhookEvent>();
  const { receiver, receive, handled } = createTestReceiver({
    seen: {
      add: (guid, event) => !kept.has(guid) && Boolean(kept.set(guid, event)),
      remove: () => {},
      done: (guid) => kept.delete(guid),
    },
  });
  const request = await signed();
  // The process ends before the work.
  await receive(request);
  assert.equal(kept.size, 1);
  for (const event of kept.values()) await receiver.process(event);
  assert.deepEqual([handled.length, kept.size], [1, 0]);
});

test('the store in memory forgets the oldest events', () => {
  const store = createMemorySeenStore({ maxEvents: 2 });
  const add = (guid: string) => store.add(guid, {} as WebhookEvent);
  assert.deepEqual(['a', 'a', 'b', 'c', 'c', 'a'].map(add), [true, false, true, true, false, true]);
});
