import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { problemOf } from './answers.ts';
import { createCaller } from './calls.ts';

const CALL = { name: 'POST /x', path: '/x', token: 't', payload: {}, insists: false };

/** One call to a server that answers in this way. */
async function callTo(respond: (response: ServerResponse) => void) {
  const server = createServer((request, response) => {
    request.resume().on('end', () => respond(response));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  after(() => server.close().closeAllConnections());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { send, answers, counts } = createCaller([{ url, operatorUrl: url }], new AbortController().signal);
  const { fate, body } = await send(CALL);
  return { fate, body, answers, lost: counts.lost };
}

/** The connection ends after half of the body. */
function cutOff(response: ServerResponse, status: number): void {
  response.writeHead(status, { 'content-length': 20 });
  response.write('{"guid": "', () => response.destroy());
}

test('the code of an answer is that of its body', async () => {
  const { fate, answers } = await callTo((response) =>
    response.writeHead(409, { 'retry-after': '1' }).end('{"message_code":"idempotency_in_progress"}'),
  );
  const [answer] = answers;
  assert.deepEqual(
    [fate, answer?.status, answer?.code, answer?.retryAfter],
    ['unknown', 409, 'idempotency_in_progress', '1'],
  );
});

test('an error without a JSON body is a wrong answer, not a lost one', async () => {
  for (const [status, text] of [
    [500, 'Internal Server Error'],
    [502, '<html>Bad Gateway</html>'],
    [500, ''],
    [500, 'null'],
    [400, 'Bad Request'],
  ] as const) {
    const { fate, body, answers, lost } = await callTo((response) => response.writeHead(status).end(text));
    assert.deepEqual([fate, body, lost], ['unknown', undefined, 0]);
    assert.deepEqual(answers.map(problemOf), [`POST /x answered ${status}`]);
  }
});

test('a 5xx is a wrong answer even if its body is cut off', async () => {
  const { fate, answers, lost } = await callTo((response) => cutOff(response, 500));
  assert.deepEqual([fate, lost, answers.map(problemOf)], ['unknown', 0, ['POST /x answered 500']]);
});

test('a 2xx whose body is cut off is lost, and its fate unknown', async () => {
  const { fate, body, answers, lost } = await callTo((response) => cutOff(response, 201));
  assert.deepEqual([fate, body, answers.length, lost], ['unknown', undefined, 0, 1]);
});

test('a 2xx without JSON is acknowledged', async () => {
  const { fate, body, answers } = await callTo((response) => response.writeHead(202).end());
  assert.deepEqual([fate, body, answers.map(problemOf)], ['acknowledged', undefined, [undefined]]);
});
