import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createCallers, issueToken, readApiOperations } from '../../../testing/api/api-callers.ts';
import { addressOf } from '../../../testing/api/operations.ts';
import { assertError, createTestApp } from '../../../testing/app/app.ts';
import type { TokenType } from '../claims.ts';

/** Contract, section 4: the refusals of an Organization without a feature. */
const REFUSALS: Record<string, [status: number, code: string]> = {
  webhooks: [422, 'not_implemented'],
  files: [403, 'feature_not_enabled'],
};

const app = await createTestApp();
const callers = await createCallers(app);
await app.operate('PATCH', `/organizations/${callers.organizationGuid}`, { features: [] });

test('every operation of a feature refuses an Organization without it, as the OpenAPI document says', async () => {
  const operations = (await readApiOperations(app)).filter((operation) => operation['x-feature']);
  assert.ok(operations.some(({ operationId }) => operationId === 'listInboxes'));
  for (const operation of operations) {
    const { operationId, method, types, responses, 'x-feature': feature = '' } = operation;
    const [status, code] = REFUSALS[feature] as [number, string];
    const token = await issueToken(app, callers, types[0] as TokenType);
    assertError(await app.call({ method, url: addressOf(operation), token }), status, code);
    assert.ok(responses[status], `${operationId} describes ${status}`);
  }
});
