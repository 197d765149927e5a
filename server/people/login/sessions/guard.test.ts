import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sampleOf } from '../../../../testing/api/json-samples.ts';
import { addressOf, createOperations, jsonBodyOf } from '../../../../testing/api/operations.ts';
import { assertError, createTestApp } from '../../../../testing/app/app.ts';

/** Rules of every route under /dashboard in the OpenAPI document; new routes are covered automatically. */
const app = await createTestApp();
const { operations: all, call } = await createOperations(app);
const operations = all.filter(({ path }) => path.startsWith('/dashboard/'));
const OPEN = [
  'createPasskeyLoginOptions',
  'inspectLink',
  'logIn',
  'logInWithPasskey',
  'requestPasswordReset',
  'setPassword',
];

test('only routes that start a session work without one', () => {
  const open = operations.filter(({ security }) => !security?.length).map(({ operationId }) => operationId);
  assert.deepEqual(open.sort(), OPEN);
  assert.ok(operations.length >= 20, `${operations.length} routes`);
});

for (const operation of operations) {
  const { operationId, method } = operation;
  const schema = jsonBodyOf(operation);
  const payload = schema ? JSON.stringify(sampleOf(schema)) : undefined;
  const json = { 'content-type': 'application/json' };
  const request = { method, url: addressOf(operation), ...(payload === undefined ? {} : { payload }) };

  if (!OPEN.includes(operationId))
    test(`${operationId}: without a session 401, regardless of the input`, async () => {
      for (const cookie of ['', 'portico_session=nonsense'])
        assertError(
          await app.call({ ...request, headers: { ...json, cookie } }),
          401,
          'authentication_failed',
        );
      const headers = { ...json, authorization: 'Bearer nonsense' };
      assertError(await app.call({ ...request, headers }), 401, 'authentication_failed');
    });

  if (method === 'GET') continue;

  test(`${operationId}: from another origin 403, even with a session`, async () => {
    for (const headers of [
      { ...json, origin: 'https://evil.example' },
      { ...json, 'sec-fetch-site': 'cross-site' },
      { 'content-type': 'text/plain' },
    ]) {
      const sent = { headers, ...(payload === undefined ? {} : { payload }) };
      assertError(await call(operation, sent), 403, 'csrf_refused');
    }
  });
}
