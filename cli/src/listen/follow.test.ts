import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { ApiError, type Portico } from '../../../sdk/src/index.ts';
import { CliError } from '../failure.ts';
import { follow } from './follow.ts';

const DATE = 'Mon, 16 Nov 2026 12:00:00 GMT';
const EVENT = 'id: 1\ndata: {"guid":"a","event_type":"bank.created","created_at":"2026-11-16T12:00:01Z"}\n\n';

/** A service that answers each request with the next text, and then ends the stream. */
function serviceOf(texts: string[]) {
  const queries: URLSearchParams[] = [];
  const stream = async (path: string) => {
    queries.push(new URLSearchParams(path.split('?')[1]));
    return new Response(texts.shift() ?? '', { headers: { date: DATE } });
  };
  return { portico: { stream } as unknown as Portico, queries };
}

const IGNORED = { types: [], onEvent: async () => undefined };

test('a connection that broke before the first id resumes from its time', async () => {
  const { portico, queries } = serviceOf(['', EVENT]);
  const stop = new AbortController();
  await follow(
    portico,
    {},
    {
      ...IGNORED,
      signal: stop.signal,
      onEvent: async () => stop.abort(),
    },
  );
  assert.deepEqual(
    queries.map((query) => query.get('since')),
    [null, new Date(DATE).toISOString()],
  );
});

test('a position that cannot be stored ends the command instead of being tried for ever', async () => {
  const { portico, queries } = serviceOf([EVENT]);
  const following = follow(
    portico,
    {},
    {
      ...IGNORED,
      signal: new AbortController().signal,
      keep: () => Promise.reject(new CliError('position.json cannot be written: disk full')),
    },
  );
  await assert.rejects(following, /cannot be written/);
  assert.equal(queries.length, 1);
});

test('a limit of token requests does not end it', async () => {
  const { portico, queries } = serviceOf([EVENT]);
  const limited = new ApiError('Too many requests', {
    ...{ status: 403, error: 'forbidden', messageCode: 'rate_limit_exceeded', requestId: undefined },
    retryAfterSeconds: 0.001,
  });
  const stream = mock.fn(portico.stream);
  stream.mock.mockImplementationOnce(() => Promise.reject(limited));
  const stop = new AbortController();
  await follow(
    { stream } as unknown as Portico,
    {},
    {
      ...IGNORED,
      signal: stop.signal,
      onEvent: async () => stop.abort(),
    },
  );
  assert.deepEqual([stream.mock.callCount(), queries.length], [2, 1]);
});
