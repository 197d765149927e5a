import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTestEndpoint, refusing } from '../../../../testing/webhooks/test-endpoint.ts';
import { createPosting, named } from '../testing/posting.ts';
import { MAX_INFORMATIONAL, MAX_RESPONSE_BYTES } from './exchange.ts';

const IN_NO_TIME = { durationMs: 0 };

function unreachable(reason: string) {
  return { kind: 'unreachable', reason, ...IN_NO_TIME };
}

test('method, path with query, headers and body arrive unchanged', async () => {
  const endpoint = await createTestEndpoint();
  const { post } = createPosting();
  const body = '{"name":"Zoë 😀"}';
  const headers = { 'content-type': 'application/json', 'webhook-id': 'a1' };
  await post(`${endpoint.url}/hooks/in?tenant=7#part`, { headers, body });
  const [request] = endpoint.received;
  assert.equal(request?.method, 'POST');
  assert.equal(request.path, '/hooks/in?tenant=7');
  assert.equal(request.body.toString(), body);
  assert.equal(request.headers['webhook-id'], 'a1');
  assert.equal(request.headers['content-type'], 'application/json');
  assert.equal(request.headers['content-length'], `${Buffer.byteLength(body)}`);
  assert.equal(request.headers.host, new URL(endpoint.url).host);
});

for (const status of [200, 201, 204, 301, 302, 307, 400, 404, 410, 429, 500, 503, 599]) {
  test(`status ${status} is returned`, async () => {
    const endpoint = await createTestEndpoint();
    endpoint.behave({ kind: 'answer', status });
    const answer = await createPosting().post(endpoint.url);
    assert.deepEqual(answer, { kind: 'answered', status, retryAfter: undefined, excerpt: '', ...IN_NO_TIME });
  });
}

test('a redirect is not followed', async () => {
  const endpoint = await createTestEndpoint();
  const elsewhere = await createTestEndpoint();
  endpoint.behave({ kind: 'redirect', status: 301, location: elsewhere.url });
  const answer = await createPosting().post(endpoint.url);
  assert.ok(answer.kind === 'answered');
  assert.equal(answer.status, 301);
  assert.equal(elsewhere.received.length, 0);
});

test('Retry-After is returned unchanged', async () => {
  const endpoint = await createTestEndpoint();
  const { post } = createPosting();
  for (const retryAfter of ['120', 'Wed, 21 Oct 2026 07:28:00 GMT', 'soon']) {
    endpoint.behave({ kind: 'answer', status: 429, headers: { 'retry-after': retryAfter } });
    const answer = await post(endpoint.url);
    assert.deepEqual(answer, { kind: 'answered', status: 429, retryAfter, excerpt: '', ...IN_NO_TIME });
  }
});

test('the first of several Retry-After headers counts', async () => {
  const endpoint = await createTestEndpoint();
  const bytes = 'HTTP/1.1 503 Busy\r\nretry-after: 1\r\nretry-after: 2\r\ncontent-length: 0\r\n\r\n';
  endpoint.behave({ kind: 'garbage', bytes });
  const answer = await createPosting().post(endpoint.url);
  assert.deepEqual(answer, { kind: 'answered', status: 503, retryAfter: '1', excerpt: '', ...IN_NO_TIME });
});

test('the first 1,024 bytes of the response are kept', async () => {
  const endpoint = await createTestEndpoint();
  const { post } = createPosting();
  for (const [body, excerpt] of [
    ['short', 'short'],
    ['x'.repeat(5_000), 'x'.repeat(1_024)],
    ['\0', '\ufffd'],
  ] as const) {
    endpoint.behave({ kind: 'answer', status: 500, body });
    const answer = await post(endpoint.url);
    assert.equal(answer.excerpt, excerpt);
  }
});

test('early hints are skipped', async () => {
  const endpoint = await createTestEndpoint();
  const hints = 'HTTP/1.1 103 Early Hints\r\nretry-after: 9\r\n\r\n';
  endpoint.behave({ kind: 'garbage', bytes: `${hints}HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok` });
  const answer = await createPosting().post(endpoint.url);
  assert.deepEqual(answer, {
    kind: 'answered',
    status: 200,
    retryAfter: undefined,
    excerpt: 'ok',
    ...IN_NO_TIME,
  });
});

test('early hints without a response: unreachable, without a status', async () => {
  const endpoint = await createTestEndpoint();
  endpoint.behave({ kind: 'garbage', bytes: 'HTTP/1.1 103 Early Hints\r\n\r\n' });
  const reason = 'the connection closed before the response was complete';
  assert.deepEqual(await createPosting().post(endpoint.url), unreachable(reason));
});

test('more than 16 informational responses: unreachable, and the connection is closed', async () => {
  const endpoint = await createTestEndpoint();
  const hints = (count: number) => 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(count);
  const final = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';
  endpoint.behave({ kind: 'garbage', bytes: hints(MAX_INFORMATIONAL) + final });
  assert.equal((await createPosting().post(endpoint.url)).kind, 'answered');
  endpoint.behave({ kind: 'garbage', bytes: hints(MAX_INFORMATIONAL + 1) + final });
  const tooMany = unreachable('too many informational responses');
  assert.deepEqual(await createPosting().post(endpoint.url), tooMany);
  endpoint.behave({ kind: 'flood', start: '', repeated: hints(1) });
  assert.deepEqual(await createPosting().post(endpoint.url), tooMany);
  await endpoint.received[2]?.connectionClosed;
});

test('a body that ends with the connection is complete', async () => {
  const endpoint = await createTestEndpoint();
  endpoint.behave({ kind: 'garbage', bytes: 'HTTP/1.0 200 OK\r\n\r\nthe old way' });
  assert.equal((await createPosting().post(endpoint.url)).excerpt, 'the old way');
});

test('an endless body is cut off at 64 KB with its connection, and the status counts', async () => {
  const endpoint = await createTestEndpoint();
  endpoint.behave({ kind: 'endless' });
  const answer = await createPosting().post(endpoint.url);
  assert.deepEqual(answer, {
    kind: 'answered',
    status: 200,
    retryAfter: undefined,
    excerpt: 'e'.repeat(1_024),
    ...IN_NO_TIME,
  });
  await endpoint.received[0]?.connectionClosed;
});

test('a body of 64 KB keeps its connection; one byte more closes it', async () => {
  const endpoint = await createTestEndpoint();
  const { post } = createPosting();
  for (const bytes of [MAX_RESPONSE_BYTES, MAX_RESPONSE_BYTES + 1, 0]) {
    endpoint.behave({ kind: 'answer', status: 200, body: 'x'.repeat(bytes) });
    assert.equal((await post(endpoint.url)).status, 200);
  }
  const [first, second, third] = endpoint.received.map((request) => request.connectionClosed);
  assert.equal(first, second);
  assert.notEqual(second, third);
  await second;
});

test('connection refused: unreachable', async () => {
  assert.deepEqual(await createPosting().post(await refusing()), unreachable('connection refused'));
});

test('connection reset: unreachable', async () => {
  const endpoint = await createTestEndpoint();
  endpoint.behave({ kind: 'reset' });
  assert.deepEqual(await createPosting().post(endpoint.url), unreachable('connection reset'));
  assert.equal(endpoint.received.length, 1);
});

test('connection reset during the response: unreachable, with the status and the partial body', async () => {
  const endpoint = await createTestEndpoint();
  endpoint.behave({ kind: 'resetMidResponse' });
  const answer = await createPosting().post(endpoint.url);
  const begun = { status: 200, excerpt: 'the first part' };
  assert.deepEqual(answer, { ...unreachable('connection reset'), ...begun });
});

test('connection closed during the response: unreachable', async () => {
  const endpoint = await createTestEndpoint();
  endpoint.behave({ kind: 'garbage', bytes: 'HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nfirst' });
  const answer = await createPosting().post(endpoint.url);
  const begun = { status: 200, excerpt: 'first' };
  assert.deepEqual(answer, {
    ...unreachable('the connection closed before the response was complete'),
    ...begun,
  });
});

for (const [what, bytes] of Object.entries({
  'what is not HTTP': 'this is not HTTP\r\n\r\n',
  '100 and nothing else': 'HTTP/1.1 100 Continue\r\n\r\n',
  'another protocol': 'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n',
  'a header that is none': 'HTTP/1.1 200 OK\r\nno colon\r\n\r\n',
})) {
  test(`${what}: unreachable`, async () => {
    const endpoint = await createTestEndpoint();
    endpoint.behave({ kind: 'garbage', bytes });
    assert.deepEqual(await createPosting().post(endpoint.url), unreachable('the response is not valid HTTP'));
  });
}

test('two content-lengths: unreachable', async () => {
  const endpoint = await createTestEndpoint();
  endpoint.behave({
    kind: 'garbage',
    bytes: 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nx',
  });
  const reason = 'the response body does not match its content-length';
  assert.deepEqual(await createPosting().post(endpoint.url), unreachable(reason));
});

test('connection closed without a response: unreachable', async () => {
  const endpoint = await createTestEndpoint();
  endpoint.behave({ kind: 'garbage', bytes: '' });
  const reason = 'the connection closed before the response was complete';
  assert.deepEqual(await createPosting().post(endpoint.url), unreachable(reason));
});

test('1 MB of headers: unreachable', async () => {
  const endpoint = await createTestEndpoint();
  endpoint.behave({ kind: 'hugeHeaders', bytes: 1024 * 1024 });
  assert.deepEqual(
    await createPosting().post(endpoint.url),
    unreachable('the response headers are too large'),
  );
});

const CHUNKED = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n';
for (const [what, { start, repeated, ...begun }] of Object.entries({
  'an endless chunk extension': { start: `${CHUNKED}2;`, repeated: 'a', status: 200, excerpt: '' },
  'an endless reason phrase': { start: 'HTTP/1.1 200 ', repeated: 'a' },
  'endless empty lines': { start: '', repeated: '\r\n' },
})) {
  test(`${what}: unreachable, and the connection is closed`, async () => {
    const endpoint = await createTestEndpoint();
    endpoint.behave({ kind: 'flood', start, repeated });
    const answer = await createPosting().post(endpoint.url);
    assert.deepEqual(answer, { ...unreachable('the response is too large'), ...begun });
    await endpoint.received[0]?.connectionClosed;
  });
}

test('endless trailers: unreachable', async () => {
  const endpoint = await createTestEndpoint();
  endpoint.behave({ kind: 'flood', start: `${CHUNKED}0\r\n`, repeated: 'a: b\r\n' });
  const answer = await createPosting().post(endpoint.url);
  const begun = { status: 200, excerpt: '' };
  assert.deepEqual(answer, { ...unreachable('the response headers are too large'), ...begun });
});

test('the bytes of earlier responses on a connection do not count', async () => {
  const endpoint = await createTestEndpoint();
  const { post } = createPosting();
  endpoint.behave({ kind: 'answer', status: 200, body: 'x'.repeat(MAX_RESPONSE_BYTES) });
  for (let sent = 0; sent < 20; sent += 1) assert.equal((await post(endpoint.url)).status, 200);
  assert.equal(new Set(endpoint.received.map(({ connectionClosed }) => connectionClosed)).size, 1);
});

test('a body of 64 KB in chunks of one byte is complete', async () => {
  const endpoint = await createTestEndpoint();
  const bytes = `${CHUNKED}${'1\r\nx\r\n'.repeat(MAX_RESPONSE_BYTES)}0\r\n\r\n`;
  endpoint.behave({ kind: 'garbage', bytes });
  assert.equal((await createPosting().post(endpoint.url)).kind, 'answered');
});

/** One reason for both, so that a partner does not learn which names our network resolves. */
const NO_PUBLIC_ADDRESS = unreachable('the host does not resolve to a public address');

test('a name that does not resolve: unreachable', async () => {
  for (const code of ['ENOTFOUND', 'EAI_AGAIN', 'ESERVFAIL', 'ETIMEOUT']) {
    const { post } = createPosting(() => Promise.reject(Object.assign(new Error(), { code })));
    assert.deepEqual(await post('http://nowhere.invalid/'), NO_PUBLIC_ADDRESS);
  }
});

test('an address that is not public: unreachable, and nothing is sent', async () => {
  const endpoint = await createTestEndpoint();
  const { port } = new URL(endpoint.url);
  const { post } = createPosting();
  for (const host of ['127.0.0.1', '0x7f.1', '2130706433', '[::ffff:127.0.0.1]', 'hooks.partner.test']) {
    const answer = await post(`http://${host}:${port}/`, { allowPrivate: false });
    assert.deepEqual(answer, NO_PUBLIC_ADDRESS, host);
  }
  assert.equal(endpoint.received.length, 0);
});

test('a connection to a private address is not reused for a request that may not reach one', async () => {
  const endpoint = await createTestEndpoint();
  const { post } = createPosting();
  const url = named(endpoint.url);
  assert.equal((await post(url)).kind, 'answered');
  assert.deepEqual(await post(url, { allowPrivate: false }), NO_PUBLIC_ADDRESS);
  assert.equal(endpoint.received.length, 1);
});

test('an invalid URL or another protocol: unreachable', async () => {
  const { post } = createPosting();
  for (const url of ['', 'partner.test', 'ftp://partner.test/', 'file:///etc/passwd', 'http://[::1'])
    assert.deepEqual(await post(url), unreachable('the URL is not valid'));
});

test('a header that cannot be sent: unreachable, never a rejection', async () => {
  const { post, clock } = createPosting();
  const answer = await post('http://partner.test/', { headers: { 'x-bad': 'a\r\nb: c' } });
  assert.deepEqual(answer, unreachable('the exchange failed'));
  assert.equal(clock.waiting(), 0);
});
