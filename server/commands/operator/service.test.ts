import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { refusing } from '../../../testing/webhooks/test-endpoint.ts';
import { Secret } from '../../infrastructure/runtime/secret.ts';
import { StartupError } from '../../infrastructure/runtime/startup-error.ts';
import { fetchCalls, send } from './service.ts';

const token = new Secret('the-token-of-this-test');
const request = { method: 'POST', path: '/operator/things', body: undefined };

/** Answers every request as the test sets, and keeps the last request. */
let page: { status: number; text: string; location?: string } = { status: 200, text: '' };
let received: { method: string | undefined; url: string | undefined; authorization: string | undefined };
const service = createServer(({ method, url, headers }, response) => {
  received = { method, url, authorization: headers.authorization };
  response.writeHead(page.status, page.location === undefined ? {} : { location: page.location });
  response.end(page.text);
}).listen(0, '127.0.0.1');
after(() => service.close());
await once(service, 'listening');
const baseUrl = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;

const document = '{"paths":{"/operator/things":{"get":{"x-command":"things list"}}}}';

function withMessage(message: string): (error: unknown) => true {
  return (error) => {
    assert.ok(error instanceof StartupError);
    assert.equal(error.message, message);
    return true;
  };
}

function notPortico(path: string): string {
  return `The service at ${baseUrl}${path} has no operator calls; set PORTICO_OPERATOR_URL to the operator listener of the service.`;
}

test('the calls are read from the document without the token', async () => {
  page = { status: 200, text: document };
  const calls = await fetchCalls(baseUrl);
  assert.deepEqual(
    calls.map((call) => call.words),
    [['things', 'list']],
  );
  assert.deepEqual(received, { method: 'GET', url: '/operator/openapi.json', authorization: undefined });
});

test('a document of another service is reported with its address', async () => {
  const elsewhere = `data:application/json,${encodeURIComponent(document)}`;
  for (page of [
    { status: 200, text: '<p>Hello</p>' },
    { status: 200, text: '{"paths":{}}' },
    { status: 200, text: 'null' },
    { status: 404, text: document },
    { status: 302, text: '', location: elsewhere },
  ])
    await assert.rejects(fetchCalls(baseUrl), withMessage(notPortico('/operator/openapi.json')));
});

test('a call carries the token, and a successful response may be empty', async () => {
  page = { status: 204, text: '' };
  assert.deepEqual(await send(baseUrl, token, request), { ok: true, body: undefined });
  assert.deepEqual(received, {
    method: 'POST',
    url: '/operator/things',
    authorization: `Bearer ${token.reveal()}`,
  });
  page = { status: 409, text: '{"error":"conflict"}' };
  assert.deepEqual(await send(baseUrl, token, request), { ok: false, body: { error: 'conflict' } });
});

test('an error without a body and a redirect do not come from the service', async () => {
  for (page of [
    { status: 502, text: '' },
    { status: 307, text: '', location: '/operator/other' },
  ])
    await assert.rejects(send(baseUrl, token, request), withMessage(notPortico('/operator/things')));
  assert.equal(received.url, '/operator/things');
});

test('an unreachable service is reported with its address and how to start it', async () => {
  const address = await refusing();
  const message = `The service at ${address} cannot be reached (ECONNREFUSED); start it with npm start, or set PORTICO_OPERATOR_URL`;
  await assert.rejects(fetchCalls(address), withMessage(message));
});
