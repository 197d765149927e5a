import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError, ConnectionError } from '../../sdk/src/index.ts';
import type { Context } from './command.ts';
import { poll } from './polling.ts';

const answered = (status: number) =>
  new ApiError('refused', {
    ...{ status, error: '', messageCode: '', requestId: undefined, retryAfterSeconds: undefined },
  });

function contextOf(signal = new AbortController().signal) {
  const said: string[] = [];
  const io = { stderr: { write: (text: string) => said.push(text) }, signal };
  const options = { flag: () => false };
  return { context: { io, options } as unknown as Context, said };
}

test('polling goes on after failures that pass, says so once, and ends with others', async () => {
  const { context, said } = contextOf();
  const failures: unknown[] = [new ConnectionError('no route'), answered(503), answered(429)];
  let steps = 0;
  await poll(context, 1, async () => {
    steps += 1;
    const failure = failures.shift();
    if (failure) throw failure;
    return steps > 4;
  });
  assert.equal(steps, 5);
  assert.deepEqual(said, ['Interrupted (no route); trying again …\n', 'Connected again.\n']);
  await assert.rejects(
    poll(context, 1, () => Promise.reject(answered(403))),
    ApiError,
  );
});

test('an interruption ends it', async () => {
  const stop = new AbortController();
  const { context } = contextOf(stop.signal);
  const polling = poll(context, 60_000, async () => {
    setImmediate(() => stop.abort());
    return false;
  });
  await assert.rejects(polling, { name: 'AbortError' });
});
