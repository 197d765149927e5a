import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { test } from 'node:test';
import { createBareServer, listenAnywhere } from '../../../../testing/app/http-server.ts';
import { MAX_UNANSWERED_REQUESTS } from './pipelining.ts';

const { server } = createBareServer();
let served = 0;
server.get<{ Params: { number: string } }>(
  '/things/:number',
  { schema: { hide: true } },
  async ({ params: { number } }) => {
    served += 1;
    return { number };
  },
);
const port = await listenAnywhere(server);

const requests = (count: number) =>
  Array.from({ length: count }, (_, index) => `GET /things/${index} HTTP/1.1\r\nHost: x\r\n\r\n`).join('');

/** Reads until `count` responses have arrived or the connection ends. */
async function answersTo(text: string, count: number): Promise<string[]> {
  const socket = connect(port, '127.0.0.1').setEncoding('utf8');
  socket.write(text);
  let received = '';
  const answers = () => [...received.matchAll(/\{"number":"(\d+)"\}/g)].map(([, number]) => number ?? '');
  await new Promise<void>((resolve) => {
    socket.on('data', (data) => {
      received += data;
      if (answers().length === count) resolve();
    });
    socket.on('error', () => {}).once('close', () => resolve());
  });
  socket.destroy();
  return answers();
}

test(`${MAX_UNANSWERED_REQUESTS} pipelined requests are answered in order`, async () => {
  const answers = await answersTo(requests(MAX_UNANSWERED_REQUESTS), MAX_UNANSWERED_REQUESTS);
  assert.deepEqual(
    answers,
    Array.from({ length: MAX_UNANSWERED_REQUESTS }, (_, index) => String(index)),
  );
});

test('a connection with more unanswered requests is closed', async () => {
  served = 0;
  const answers = await answersTo(requests(20_000), 20_000);
  assert.ok(answers.length <= MAX_UNANSWERED_REQUESTS, String(answers.length));
  assert.ok(served <= MAX_UNANSWERED_REQUESTS, String(served));
});

test('a connection that waits for each response has no such limit', async () => {
  const socket = connect(port, '127.0.0.1').setEncoding('utf8');
  for (let call = 0; call < 3 * MAX_UNANSWERED_REQUESTS; call += 1) {
    const answered = new Promise<string>((resolve) => socket.once('data', resolve));
    socket.write(`GET /things/${call} HTTP/1.1\r\nHost: x\r\n\r\n`);
    assert.match(await answered, new RegExp(`"number":"${call}"`));
  }
  socket.destroy();
});
