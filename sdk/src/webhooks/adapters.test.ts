import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { after, test } from 'node:test';
import { fastify } from 'fastify';
import { expressAdapter, fastifyAdapter, fetchAdapter, nextAdapter } from './adapters.ts';
import { createReceiver } from './receiver.ts';
import { signWebhook } from './sign.ts';

const KEY = '0123456789abcdef'.repeat(4);
const BODY = JSON.stringify({
  ...{ guid: 'a'.repeat(32), organization_guid: 'o', bank_guid: 'b', event_type: 'bank.created' },
  ...{ object_guid: 'ü', environment: 'sandbox' },
});
const HEADERS = await signWebhook(BODY, KEY, { guid: 'a'.repeat(32) });
const LARGE = 'x'.repeat(65_537);

/** `handled` resolves when the handler has run, and rejects with the errors of the receiver. */
function createTestReceiver() {
  const { promise: handled, resolve, reject } = Promise.withResolvers<void>();
  handled.catch(() => undefined);
  let answered = false;
  const receiver = createReceiver({
    keys: KEY,
    on: {
      'bank.created': () => {
        assert.ok(answered, 'the handler ran before the answer');
        resolve();
      },
    },
    onError: reject,
  });
  return { receiver, handled, answer: () => (answered = true) };
}

async function listen(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  after(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

const request = (body: string, headers = HEADERS) =>
  new Request('https://partner.example/webhooks', { method: 'POST', body, headers });

test('Request and Response: answers, then works', async () => {
  const { receiver, handled, answer } = createTestReceiver();
  const handle = fetchAdapter(receiver);
  const response = await handle(request(BODY));
  answer();
  assert.deepEqual([response.status, response.headers.get('content-type')], [200, 'application/json']);
  await handled;
  assert.equal((await handle(request(`${BODY} `))).status, 401);
  assert.equal((await handle(request(LARGE))).status, 413);
  const get = await handle(new Request('https://partner.example/webhooks'));
  assert.deepEqual([get.status, get.headers.get('allow')], [405, 'POST']);
  assert.equal((await handle(new Request('https://partner.example/', { method: 'POST' }))).status, 401);
});

test('Request and Response: the platform keeps the work alive, also if the sender leaves', async () => {
  const { receiver, handled, answer } = createTestReceiver();
  const kept: Promise<unknown>[] = [];
  const platform = { waitUntil: (work: Promise<unknown>) => kept.push(work) };
  const responding = fetchAdapter(receiver)(request(BODY), platform);
  assert.equal(kept.length, 1, 'before the event is recorded');
  await responding;
  answer();
  await Promise.all([...kept, handled]);
});

test('Request and Response: a sender that leaves during the body leaves no work', async () => {
  const { receiver } = createTestReceiver();
  const body = new ReadableStream({ pull: (controller) => controller.error(new Error('the sender left')) });
  const init = { method: 'POST', body, headers: HEADERS, duplex: 'half' as const };
  let kept: Promise<unknown> | undefined;
  const responding = fetchAdapter(receiver)(new Request('https://partner.example/webhooks', init), {
    waitUntil: (work) => (kept = work),
  });
  await assert.rejects(responding, /the sender left/);
  assert.equal(await kept, undefined);
});

test('Next.js: after() keeps the work alive, which does not wait for it', async () => {
  const { receiver, handled, answer } = createTestReceiver();
  const later: (() => Promise<unknown>)[] = [];
  const POST = nextAdapter(receiver, { after: (work) => later.push(work) });
  assert.equal((await POST(request(BODY))).status, 200);
  answer();
  await handled;
  assert.equal(later.length, 1);
  await later[0]?.();
});

test('Express and node:http: reads the body itself, or takes the raw one', async () => {
  for (const parser of [false, true]) {
    const { receiver, handled, answer } = createTestReceiver();
    const handle = expressAdapter(receiver);
    const url = await listen(async (incoming, response) => {
      // As express.raw() does.
      if (parser) Object.assign(incoming, { body: Buffer.concat(await Array.fromAsync(incoming)) });
      response.once('finish', answer);
      await handle(incoming, response);
    });
    const { status } = await fetch(url, { method: 'POST', body: BODY, headers: HEADERS });
    assert.equal(status, 200);
    await handled;
    assert.equal((await fetch(url, { method: 'POST', body: `${BODY} `, headers: HEADERS })).status, 401);
    if (!parser) assert.equal((await fetch(url, { method: 'POST', body: LARGE })).status, 413);
  }
});

test('Express: says that a parsed body cannot be verified', async () => {
  const { receiver, handled } = createTestReceiver();
  const handle = expressAdapter(receiver);
  const url = await listen((incoming, response) => {
    Object.assign(incoming, { body: JSON.parse(BODY) });
    void handle(incoming, response);
  });
  const response = await fetch(url, { method: 'POST', body: BODY, headers: HEADERS });
  assert.deepEqual(
    [response.status, ((await response.json()) as { error: string }).error],
    [401, 'body_not_raw'],
  );
  await assert.rejects(handled, { check: 'body_not_raw' });
});

test('Express: a sender that leaves during the body is no error', async () => {
  const { receiver } = createTestReceiver();
  const { promise, resolve } = Promise.withResolvers<void>();
  const url = await listen((incoming, response) => resolve(expressAdapter(receiver)(incoming, response)));
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  socket.end('POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\npart', () => socket.destroy());
  await promise;
});

for (const [when, leave] of [
  ['while the adapter ran', ({ req }) => void req.socket.destroy()],
  [
    'before the adapter ran',
    (response) => {
      response.req.socket.destroy();
      return once(response, 'close');
    },
  ],
  ['after another answer', (response) => once(response.writeHead(503).end(), 'close')],
] satisfies [string, (response: ServerResponse) => unknown][])
  test(`Express: an event whose sender left ${when} is handled`, async () => {
    const { receiver, handled, answer } = createTestReceiver();
    answer();
    const { promise, resolve } = Promise.withResolvers<void>();
    const url = await listen(async (incoming, response) => {
      // As express.raw() does.
      Object.assign(incoming, { body: Buffer.concat(await Array.fromAsync(incoming)) });
      await leave(response);
      resolve(expressAdapter(receiver)(incoming, response));
    });
    await fetch(url, { method: 'POST', body: BODY, headers: HEADERS }).catch(() => undefined);
    await Promise.all([promise, handled]);
  });

test('Fastify: an event whose sender left before the adapter ran is handled', async () => {
  const { receiver, handled, answer } = createTestReceiver();
  answer();
  const app = fastify();
  app.addHook('preHandler', async (_request, { raw }) => {
    raw.req.socket.destroy();
    await once(raw, 'close');
  });
  await app.register(fastifyAdapter(receiver, '/webhooks'));
  after(() => app.close());
  const url = await app.listen({ port: 0, host: '127.0.0.1' });
  await assert.rejects(fetch(`${url}/webhooks`, { method: 'POST', body: BODY, headers: HEADERS }));
  await handled;
});

test('Fastify: other routes keep their parsers', async () => {
  const { receiver, handled, answer } = createTestReceiver();
  const app = fastify();
  app.addHook('onResponse', async () => void answer());
  app.post('/other', async ({ body }) => body);
  await app.register(fastifyAdapter(receiver, '/webhooks'));
  after(() => app.close());
  await app.listen({ port: 0, host: '127.0.0.1' });
  const url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
  const response = await fetch(`${url}/webhooks`, { method: 'POST', body: BODY, headers: HEADERS });
  assert.equal(response.status, 200);
  await handled;
  const forged = await fetch(`${url}/webhooks`, { method: 'POST', body: `${BODY} `, headers: HEADERS });
  assert.equal(forged.status, 401);
  assert.equal(
    (await fetch(`${url}/webhooks`, { method: 'POST', body: LARGE, headers: HEADERS })).status,
    413,
  );
  const other = await fetch(`${url}/other`, { method: 'POST', body: BODY, headers: HEADERS });
  assert.deepEqual(await other.json(), JSON.parse(BODY));
});
