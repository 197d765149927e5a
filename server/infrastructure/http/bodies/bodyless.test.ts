import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  assertRefused,
  createOperations,
  invalid,
  refusalOfType,
} from '../../../../testing/api/operations.ts';
import { createTestApp } from '../../../../testing/app/app.ts';

const app = await createTestApp();
const { operations: all, call } = await createOperations(app);
const operations = all.filter(
  ({ method, requestBody }) => !['GET', 'OPTIONS'].includes(method) && !requestBody,
);

test('the OpenAPI document lists changing routes without a body', () => {
  assert.ok(operations.length >= 4, `${operations.length} routes`);
});

for (const operation of operations)
  test(`${operation.operationId}: rejects a body of any type`, async () => {
    const send = (payload: string, type = 'application/json', headers = {}) =>
      call(operation, { payload, headers: { 'content-type': type, ...headers } });
    assertRefused(operation, await send('{"foo":1}'), invalid('body'));
    assertRefused(operation, await send('null'), invalid('body'));
    assertRefused(operation, await send('{'), { status: 400, code: 'malformed_json' });
    assertRefused(operation, await send('x', 'text/plain'), refusalOfType(operation));
    const endless = { 'content-length': String(1024 ** 5) };
    assertRefused(operation, await send('{}', undefined, endless), {
      status: 413,
      code: 'payload_too_large',
    });
  });

const deleting = operations.filter(({ method }) => method === 'DELETE');

test('the OpenAPI document lists DELETE routes', () => {
  assert.ok(deleting.length >= 6, `${deleting.length} routes`);
});

for (const operation of deleting)
  test(`${operation.operationId}: accepts an empty JSON body`, async () => {
    const headers = { 'content-type': 'application/json' };
    const { status } = await call(operation);
    assert.ok(![400, 413, 415].includes(status), String(status));
    for (const payload of ['', '{}', ' { } '])
      assert.equal((await call(operation, { payload, headers })).status, status, payload);
  });
