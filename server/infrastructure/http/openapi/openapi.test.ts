import assert from 'node:assert/strict';
import { subscribe } from 'node:diagnostics_channel';
import { test } from 'node:test';
import type { FastifyInstance, RouteOptions } from 'fastify';
import { createTestApp } from '../../../../testing/app.ts';
import { readOperations, takesBytes } from '../../../../testing/operations.ts';
import { EVENT_TYPES } from '../../../webhooks/events/catalogue.ts';
import { inlineReferences } from './references.ts';

/** Every route of the server as it was registered: the list that the document has to match. */
const registered: { method: string; path: string; schema: RouteOptions['schema'] }[] = [];
subscribe('fastify.initialization', (message) => {
  (message as { fastify: FastifyInstance }).fastify.addHook('onRoute', ({ method, url, schema }) => {
    for (const name of [method].flat()) registered.push({ method: name, path: url, schema });
  });
});

type Described = {
  parameters: { name: string }[];
  requestBody: {
    content: {
      'application/json': { schema: { properties: Record<string, { enum?: string[] }>; required: string[] } };
    };
  };
};

const app = await createTestApp();
const operations = await readOperations(app);

test('the document describes deliveries: the six fields, every event type, the headers of the signatures', async () => {
  const body = inlineReferences((await app.call({ url: '/openapi.json' })).body);
  const { post } = (body.webhooks as { event: { post: Described } }).event;
  const { properties, required } = post.requestBody.content['application/json'].schema;
  const optional = ['bank_guid'];
  const sent = ['guid', 'organization_guid', 'bank_guid', 'event_type', 'object_guid', 'environment'];
  assert.deepEqual(Object.keys(properties), sent);
  assert.deepEqual(
    required,
    sent.filter((name) => !optional.includes(name)),
  );
  assert.deepEqual(properties.event_type?.enum, [...EVENT_TYPES]);
  assert.deepEqual(
    post.parameters.map(({ name }) => name),
    ['X-Service-Signature', 'webhook-id', 'webhook-timestamp', 'webhook-signature'],
  );
});

const { body: document } = await app.call({ url: '/openapi.json' });
const { components, tags } = document as unknown as {
  components: { schemas: Record<string, { examples?: unknown[] }> };
  tags: { name: string; description: string }[];
};

test('every JSON body is a named schema with an example', () => {
  for (const name of [
    'Customer',
    'NewCustomer',
    'CustomerPage',
    'Transfer',
    'Subscription',
    'Event',
    'Delivery',
  ])
    assert.ok(components.schemas[name], name);
  for (const [name, { examples }] of Object.entries(components.schemas))
    assert.equal(examples?.length, 1, name);
  const unnamed = Object.entries(document.paths as Record<string, object>).filter(([, methods]) =>
    /"application\/json":\{"schema":(?!\{"\$ref"|\{\})/.test(JSON.stringify(methods)),
  );
  assert.deepEqual(unnamed, []);
});

test('every tag in use is described, and no other', () => {
  const used = new Set(operations.flatMap((operation) => operation.tags ?? []));
  assert.deepEqual(new Set(tags.map(({ name }) => name)), used);
  for (const { name, description } of tags) assert.ok(description, name);
});

test('an operation without credentials is marked as public', () => {
  const open = operations
    .filter(({ security }) => security?.length === 0)
    .map(({ operationId }) => operationId);
  assert.ok(open.includes('getJsonWebKeySet') && open.includes('uploadFile') && open.includes('logIn'));
  for (const { operationId, security } of operations) assert.ok(security, operationId);
});

test('every route is in the document, and nothing else is', () => {
  const visible = registered.filter(({ method, schema }) => method !== 'HEAD' && !schema?.hide);
  const routes = visible.map(({ method, path }) => `${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}`);
  const documented = operations.map(({ method, path }) => `${method} ${path}`);
  assert.ok(documented.length > 0);
  assert.deepEqual(documented.sort(), routes.sort());
});

test('only the document, its page, the way there and the page of an email link are hidden', () => {
  const hidden = new Set(registered.filter(({ schema }) => schema?.hide).map(({ path }) => path));
  assert.deepEqual([...hidden].sort(), [
    ...['/', '/docs/', '/docs/js/scalar.js', '/openapi.json', '/unsubscribe/:token'],
  ]);
});

test('every operation has a summary, tags and a name of its own', () => {
  for (const { operationId, summary, tags, method, path } of operations)
    assert.ok(operationId && summary && tags?.length, `${method} ${path}`);
  const names = operations.map((operation) => operation.operationId);
  assert.equal(new Set(names).size, names.length);
});

test('every response status is described in words of our own', () => {
  for (const { operationId, responses } of operations) {
    assert.ok(Object.keys(responses).length >= 2, operationId);
    for (const [status, { description }] of Object.entries(responses))
      assert.ok(description && description !== 'Default Response', `${operationId} ${status}`);
  }
});

test('every operation that needs credentials says so, and how it refuses', () => {
  for (const { operationId, path, security, responses } of operations) {
    if (path.startsWith('/operator/')) assert.deepEqual(security, [{ operatorToken: [] }], operationId);
    if (security?.length) assert.ok(responses[401] && responses[403], operationId);
  }
});

test('operations with a body describe 413 and 415, operations on an object 404', () => {
  for (const operation of operations) {
    const { operationId, requestBody, path, responses } = operation;
    if (requestBody) assert.ok(responses[400] && responses[413], operationId);
    if (requestBody && !takesBytes(operation)) assert.ok(responses[415], operationId);
    if (path.includes('{')) assert.ok(responses[404], operationId);
  }
});
