import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { createFakeClock } from '../../../testing/app/fake-clock.ts';
import { errorResponse } from '../../../testing/packages/sdk.ts';
import { ConnectionError } from '../errors.ts';
import { Portico, type PorticoOptions } from './portico.ts';
import { systemRuntime } from './runtime.ts';

type Sent = { method: string; headers: Record<string, string> };
type Answers = (nth: number, init: RequestInit) => Response | Error | Promise<Response>;

const TIMEOUT_MS = 30_000;

/** A client whose service gives these answers, in virtual time. */
function createClient(answers: Answers, options: Partial<PorticoOptions> = {}) {
  const clock = createFakeClock();
  const sent: Sent[] = [];
  const pauses: number[] = [];
  const portico = new Portico({ token: 'token', ...options } as PorticoOptions, {
    async fetch(_url, init) {
      sent.push({ method: String(init.method), headers: init.headers as Record<string, string> });
      const answer = await answers(sent.length, init);
      if (answer instanceof Error) throw answer;
      return answer;
    },
    now: () => clock.now().getTime(),
    after(ms, action) {
      if (ms !== TIMEOUT_MS) pauses.push(ms);
      return clock.after(ms, action);
    },
    random: () => 0.5,
  });
  /** Lets time pass until the call has ended. */
  async function inTime<T>(call: Promise<T>): Promise<T> {
    let ended = false;
    const done = () => {
      ended = true;
    };
    call.then(done, done);
    for (await setImmediate(); !ended; await setImmediate()) clock.advance(1_000);
    return call;
  }
  return { portico, sent, pauses, clock, inTime };
}

const ok = () => Response.json({ guid: 'g', objects: [] }, { status: 200 });
const broken = () => new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED') });

test('reads are repeated with growing pauses', async () => {
  for (const failure of [
    broken,
    () => errorResponse(500, 'internal_error'),
    () => new Response('', { status: 502 }),
  ]) {
    const { portico, sent, pauses, inTime } = createClient((nth) => (nth <= 3 ? failure() : ok()));
    await inTime(portico.customers.get('g'));
    assert.equal(sent.length, 4);
    assert.deepEqual(pauses, [375, 750, 1_500]);
  }
});

test('after maxRetries the last error is thrown, with its cause', async () => {
  const { portico, sent, inTime } = createClient(broken, { maxRetries: 1 });
  await assert.rejects(inTime(portico.customers.get('g')), {
    name: 'ConnectionError',
    message: 'The request to localhost:4000 failed: connect ECONNREFUSED',
  });
  assert.equal(sent.length, 2);
  await assert.rejects(inTime(portico.customers.get('g', { maxRetries: 0 })), { name: 'ConnectionError' });
  assert.equal(sent.length, 3);
});

test('a creation is repeated with the same Idempotency-Key, another one has another', async () => {
  const { portico, sent, inTime } = createClient((nth) => (nth === 1 ? broken() : ok()));
  await inTime(portico.customers.create({ type: 'individual' }));
  await inTime(portico.customers.create({ type: 'individual' }));
  await inTime(portico.customers.create({ type: 'individual' }, { idempotencyKey: 'mine' }));
  const keys = sent.map(({ headers }) => headers['idempotency-key']);
  assert.match(String(keys[0]), /^[0-9a-f-]{36}$/);
  assert.equal(keys[1], keys[0]);
  assert.notEqual(keys[2], keys[0]);
  assert.equal(keys[3], 'mine');
});

test('changes and deletions are not repeated', async () => {
  for (const failure of [broken, () => errorResponse(503, 'database_unavailable', { 'retry-after': '1' })]) {
    const { portico, sent, inTime } = createClient(failure);
    await assert.rejects(inTime(portico.customers.update('g', { name: 'One' })));
    await assert.rejects(inTime(portico.files.delete('g')));
    assert.deepEqual(
      sent.map(({ method }) => method),
      ['PATCH', 'DELETE'],
    );
  }
});

test('Retry-After is honoured, in seconds and as a date', async () => {
  const date = new Date('2026-11-15T12:00:07Z').toUTCString();
  for (const [value, pause] of [
    ['3', 3_250],
    [date, 7_250],
    ['0', 250],
  ] as const) {
    const limited = () => errorResponse(429, 'rate_limit_exceeded', { 'retry-after': value });
    const { portico, pauses, inTime } = createClient((nth) => (nth === 1 ? limited() : ok()));
    await inTime(portico.customers.get('g'));
    assert.deepEqual(pauses, [pause]);
  }
  const later = () => errorResponse(429, 'rate_limit_exceeded', { 'retry-after': '61' });
  const { portico, sent, inTime } = createClient(later);
  await assert.rejects(inTime(portico.customers.get('g')), {
    name: 'RateLimitExceededError',
    retryAfterSeconds: 61,
  });
  assert.equal(sent.length, 1, 'a long pause is up to the caller');
});

const busy = () => errorResponse(409, 'idempotency_in_progress', { 'retry-after': '1' });
const create = ({ portico }: ReturnType<typeof createClient>, options = {}) =>
  portico.customers.create({ type: 'individual' }, options);

test('a creation in progress is awaited for more than a minute, apart from maxRetries', async () => {
  let isBusy = true;
  const client = createClient((nth) => (nth === 1 ? broken() : isBusy ? busy() : ok()), { maxRetries: 1 });
  client.clock.after(61_000, () => {
    isBusy = false;
  });
  await client.inTime(create(client));
  assert.equal(new Set(client.sent.map(({ headers }) => headers['idempotency-key'])).size, 1);

  const lasting = createClient(busy);
  await assert.rejects(lasting.inTime(create(lasting)), { name: 'IdempotencyInProgressError' });
  assert.ok(lasting.sent.length < 100, 'not without end');
  const single = createClient(busy);
  await assert.rejects(create(single, { maxRetries: 0 }), { name: 'IdempotencyInProgressError' });
  assert.equal(single.sent.length, 1);
});

test('the error of a creation has its Idempotency-Key', async () => {
  for (const answer of [broken, busy, () => errorResponse(503, 'overloaded')]) {
    const client = createClient(answer, { maxRetries: 1 });
    const error = await client.inTime(create(client)).catch((error) => error);
    assert.match(error.idempotencyKey, /^[0-9a-f-]{36}$/);
    assert.equal(error.idempotencyKey, client.sent[0]?.headers['idempotency-key']);
    await assert.rejects(client.inTime(create(client, { idempotencyKey: 'mine' })), {
      idempotencyKey: 'mine',
    });
    const read = await client.inTime(client.portico.customers.get('g')).catch((error) => error);
    assert.equal('idempotencyKey' in read, false);
  }
});

test('a creation that was sent has its Idempotency-Key also if no token can be had for a repeat', async () => {
  const refused = new ConnectionError('The issuer failed');
  let tokens = 1;
  const client = createClient(broken, {
    token: async () => {
      tokens -= 1;
      if (tokens < 0) throw refused;
      return 'token';
    },
  });
  await assert.rejects(client.inTime(create(client, { idempotencyKey: 'mine' })), {
    message: /ECONNREFUSED/,
    idempotencyKey: 'mine',
  });
  await assert.rejects(client.inTime(create(client)), refused);
  assert.equal('idempotencyKey' in refused, false, 'nothing was sent');
});

test('other refusals are not repeated', async () => {
  for (const [status, code] of [
    [400, 'invalid_parameter'],
    [403, 'ip_not_allowed'],
    [404, 'not_found'],
    [409, 'quote_used'],
    [422, 'no_customer'],
  ] as const) {
    const { portico, sent, inTime } = createClient(() => errorResponse(status, code));
    await assert.rejects(inTime(portico.customers.create({ type: 'individual' })), { messageCode: code });
    assert.equal(sent.length, 1);
  }
});

test('an error without the body of the service has a message of its own', async () => {
  const page = () => new Response('<html>Bad Gateway</html>', { status: 502 });
  const { portico, inTime } = createClient(page, { maxRetries: 0 });
  await assert.rejects(inTime(portico.customers.get('g')), {
    name: 'ApiError',
    status: 502,
    messageCode: '',
  });
  const { portico: other, inTime: inOtherTime } = createClient(() => new Response('<html>'), {
    maxRetries: 0,
  });
  await assert.rejects(inOtherTime(other.customers.get('g')), { message: 'The answer is not JSON' });
});

function hanging(_nth: number, { signal }: RequestInit): Promise<Response> {
  return new Promise((_, reject) => {
    signal?.addEventListener('abort', () => reject(signal.reason));
  });
}

test('an attempt ends with its time limit, and is repeated', async () => {
  const { portico, sent, inTime } = createClient(hanging, { maxRetries: 1 });
  await assert.rejects(inTime(portico.customers.get('g')), {
    name: 'TimeoutError',
    message: 'localhost:4000 did not answer within 30000 ms',
  });
  assert.equal(sent.length, 2);
  await assert.rejects(inTime(portico.customers.get('g', { timeoutMs: 500, maxRetries: 0 })), {
    message: /within 500 ms/,
  });
});

test('a time limit beyond the longest timer does not end a call at once', (t) => {
  const timers = t.mock.method(globalThis, 'setTimeout', () => undefined);
  for (const timeoutMs of [Number.POSITIVE_INFINITY, 2 ** 40, 500])
    systemRuntime.after(timeoutMs, () => undefined);
  assert.deepEqual(
    timers.mock.calls.map((call) => call.arguments[1 as never]),
    [2 ** 31 - 1, 2 ** 31 - 1, 500],
  );
});

test('a signal ends a call while it waits for an answer, and while it pauses', async () => {
  for (const answers of [hanging, broken]) {
    const { portico, sent } = createClient(answers);
    const controller = new AbortController();
    const call = portico.customers.get('g', { signal: controller.signal });
    await setImmediate();
    controller.abort(new Error('enough'));
    await assert.rejects(call, { message: 'enough' });
    assert.equal(sent.length, 1);
    await assert.rejects(portico.customers.get('g', { signal: controller.signal }), { message: 'enough' });
    assert.equal(sent.length, 1);
  }
});

test('a customer token whose answer was lost is issued again', async () => {
  const answers = [broken, () => errorResponse(409, 'idempotency_secret_shown'), ok];
  const { portico, sent, inTime } = createClient((nth) => answers[nth - 1]?.() ?? ok());
  await inTime(portico.customers.token('g', { scopes: ['customers:read'] }));
  const keys = sent.map(({ headers }) => headers['idempotency-key']);
  assert.equal(keys.length, 3);
  assert.equal(new Set(keys).size, 2);
});
