import assert from 'node:assert/strict';
import { test } from 'node:test';
import fastify from 'fastify';
import type { HttpServer } from '../infrastructure/http/server.ts';
import { logRequests } from './hook.ts';
import type { RecordedCall, RequestRecorder } from './recorder.ts';

const GUID = '0199e5a4c1b27d3e8f60a1b2c3d4e5f6';
const identity = {
  ...{ type: 'organization' as const, id: GUID, organizationGuid: GUID },
  ...{ bankGuid: undefined, environment: 'sandbox' as const, scopes: Array(500).fill('customers:read') },
};

test('a recorded call has the guid of the path, and nothing else that the caller chose', async () => {
  const calls: RecordedCall[] = [];
  const recorder = { sampleRateOf: () => 1, record: (call: RecordedCall) => void calls.push(call) };
  const server = fastify({ routerOptions: { maxParamLength: 16_384 } });
  server.addHook('onRequest', async (request) => void Object.assign(request, { identity }));
  logRequests(server as unknown as HttpServer, recorder as unknown as RequestRecorder);
  server.get('/banks/:guid', async () => ({}));
  for (const guid of [GUID, 'a'.repeat(8_000)]) await server.inject(`/banks/${guid}?${'b'.repeat(8_000)}`);
  assert.deepEqual(
    calls.map(({ objectGuid }) => objectGuid),
    [GUID, null],
  );
  for (const call of calls) assert.ok(JSON.stringify(call).length < 1_000);
});
