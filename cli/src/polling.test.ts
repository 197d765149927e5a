import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError, ConnectionError } from '../../sdk/src/index.ts';
import type { Context } from './command.ts';
import { describeError, EXIT } from './failure.ts';
import { poll } from './polling.ts';

const answered = (status: number, messageCode = '') =>
  new ApiError('refused', {
    ...{ status, error: '', messageCode, requestId: undefined, retryAfterSeconds: undefined },
  });
/** At the token endpoint. */
const limited = () => answered(403, 'rate_limit_exceeded');

function contextOf(signal = new AbortController().signal) {
  const said: string[] = [];
  const io = { stderr: { write: (text: string) => said.push(text) }, signal };
  const options = { flag: () => false };
  return { context: { io, options } as unknown as Context, said };
}

test('polling goes on after failures that pass, says so once, and ends with others', async () => {
  const { context, said } = contextOf();
  const failures: unknown[] = [new ConnectionError('no route'), answered(503), answered(429), limited()];
  let steps = 0;
  await poll(context, 1, async () => {
    steps += 1;
    const failure = failures.shift();
    if (failure) throw failure;
    return steps > 5;
  });
  assert.equal(steps, 6);
  assert.deepEqual(said, ['Interrupted (no route); trying again …\n', 'Connected again.\n']);
  await assert.rejects(
    poll(context, 1, () => Promise.reject(answered(403))),
    ApiError,
  );
});

test('a limit has its exit code, whatever its status', () => {
  assert.deepEqual(
    [limited(), answered(429), answered(403, 'ip_not_allowed')].map((error) => describeError(error).exitCode),
    [EXIT.unreachable, EXIT.unreachable, EXIT.permission],
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
