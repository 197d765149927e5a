import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { runCli } from '../testing/cli.ts';

const env = {
  ...{ PORTICO_CLI_URL: 'http://127.0.0.1:2', PORTICO_CLI_CLIENT_ID: 'a', PORTICO_CLI_CLIENT_SECRET: 'b' },
};

/** Runs a command, and returns the call that it made with the scope of its token. */
async function call(t: TestContext, args: readonly string[], { input = '', answer = '{"guid":"x"}' } = {}) {
  let scope: string | undefined;
  let made: unknown[] | undefined;
  const fetched = t.mock.method(globalThis, 'fetch', (async (url, { method, body } = {}) => {
    const { pathname, search } = new URL(String(url));
    if (pathname === '/oauth/token') {
      ({ scope } = JSON.parse(String(body)));
      if (scope?.startsWith('transfer:'))
        return Response.json({ error: 'invalid_scope', message_code: 'invalid_scope' }, { status: 400 });
      return Response.json({ access_token: 'token', expires_in: 1_800 });
    }
    made = [method, `${pathname}${search}`, ...(body ? [String(body)] : [])];
    return new Response(answer === '' ? null : answer, { status: answer === '' ? 204 : 200 });
  }) as typeof fetch);
  const { code, out, err } = await runCli(args, { env, input });
  // Before the next call: mocks of the same method are not restored in their order.
  fetched.mock.restore();
  return { code, out, err, scope, made };
}

test('a call is made with the scope that it needs, and its answer is printed as JSON', async (t) => {
  for (const [args, scope, made] of [
    [['get', 'transfers?state=failed'], 'transfers:read', ['GET', '/api/transfers?state=failed']],
    [['get', '/api/symbols'], 'prices:read', ['GET', '/api/symbols']],
    [['delete', '/files/1'], 'files:execute', ['DELETE', '/api/files/1']],
    [
      ['post', 'transfers', '--data', '{"amount": 1050.00000000000000001}'],
      ...['transfers:execute', ['POST', '/api/transfers', '{"amount":1050.00000000000000001}']],
    ],
  ] as const) {
    const result = await call(t, args);
    assert.deepEqual([result.scope, result.made, result.err], [scope, made, '']);
    assert.equal(result.out, '{\n  "guid": "x"\n}\n');
  }
});

test('the body of a call can come on standard input, and an answer without a body prints nothing', async (t) => {
  const { made, out } = await call(t, ['patch', 'customers/1', '--data', '-'], {
    ...{ input: '{"name": "Ada"}', answer: '' },
  });
  assert.deepEqual(made, ['PATCH', '/api/customers/1', '{"name":"Ada"}']);
  assert.equal(out, '');
});

test('a path of another host and a body that is not JSON are refused before any call', async (t) => {
  for (const [args, message] of [
    [['get', 'https://example.com/api/customers'], /PATH must be a path of the API/],
    [['get', '/api/../operator'], /PATH must be a path of the API/],
    [['get', 'customers/../%2e%2e/operator'], /PATH must be a path of the API/],
    [['post', 'customers', '--data', '{type: 1}'], /--data is not valid JSON/],
  ] as const) {
    const { code, err, scope, made } = await call(t, args);
    assert.deepEqual([code, scope, made], [2, undefined, undefined]);
    assert.match(err, message);
  }
});

test('a mistyped resource is answered with a similar one', async (t) => {
  const { code, err } = await call(t, ['get', 'transfer']);
  assert.deepEqual([code, err], [2, 'portico: There is no /api/transfer. Did you mean transfers?\n']);
});
