import assert from 'node:assert/strict';
import { subscribe } from 'node:diagnostics_channel';
import { test } from 'node:test';
import type { FastifyInstance, RouteOptions } from 'fastify';
import { DOCUMENT_PATHS, readOperations, takesBytes } from '../../../../testing/api/operations.ts';
import { createTestApp } from '../../../../testing/app/app.ts';
import { createTenant, userToken } from '../../../../testing/app/tenant.ts';
import { createCustomer } from '../../../../testing/objects/customers.ts';
import { TOKEN_LIFETIME_SECONDS } from '../../../tokens/claims.ts';
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
  summary: string;
  tags: string[];
  parameters: { name: string }[];
  requestBody: {
    content: {
      'application/json': {
        schema: { properties: Record<string, { enum?: string[] }>; required: string[] };
        example: Record<string, string>;
      };
    };
  };
};

const app = await createTestApp();
/** Without the routes of the operator listener, which a test adds. */
const routes = [...registered];
const operations = await readOperations(app);
const [partner, operator] = (await Promise.all(
  DOCUMENT_PATHS.map(async (url) => (await app.call({ url })).body),
)) as [Document, Document];

type Document = {
  paths: Record<string, object>;
  webhooks?: Record<string, { post: Described }>;
  components: { schemas: Record<string, { examples?: unknown[] }>; securitySchemes: object };
  tags: { name: string; description: string }[];
};

test('every event type is a webhook: the six fields, a sample of the body, the headers of the signatures', () => {
  const { webhooks = {} } = inlineReferences(partner);
  assert.deepEqual(Object.keys(webhooks), [...EVENT_TYPES]);
  const optional = ['bank_guid'];
  const sent = ['guid', 'organization_guid', 'bank_guid', 'event_type', 'object_guid', 'environment'];
  for (const [type, { post }] of Object.entries(webhooks)) {
    const { schema, example } = post.requestBody.content['application/json'];
    assert.deepEqual(Object.keys(schema.properties), sent);
    assert.deepEqual(
      schema.required,
      sent.filter((name) => !optional.includes(name)),
    );
    assert.deepEqual(schema.properties.event_type?.enum, [...EVENT_TYPES]);
    assert.deepEqual([post.summary, example.event_type], [type, type]);
    assert.deepEqual(
      Object.keys(example),
      sent.filter((name) => name !== 'bank_guid' || !type.startsWith('subscription.')),
    );
    assert.deepEqual(
      post.parameters.map(({ name }) => name),
      ['X-Service-Signature', 'webhook-id', 'webhook-timestamp', 'webhook-signature'],
    );
  }
});

test('the document of partners has no call of the operator or the dashboard; the other has them', () => {
  const rootsOf = ({ paths }: Document) => new Set(Object.keys(paths).map((path) => path.split('/')[1]));
  const roots = ['.well-known', 'api', 'downloads', 'oauth', 'uploads'];
  assert.deepEqual([...rootsOf(partner)].sort(), roots);
  assert.deepEqual([...rootsOf(operator)].sort(), ['dashboard', 'healthz', 'metrics', 'operator', 'readyz']);
  assert.deepEqual(Object.keys(partner.components.securitySchemes), ['bearerToken', 'clientCredentials']);
  assert.deepEqual(Object.keys(operator.components.securitySchemes), ['session', 'operatorToken']);
  assert.equal(operator.webhooks, undefined);
});

test('the operator listener documents its own calls and those of the dashboard, with the address of each', async () => {
  const listener = await app.createOperatorServer();
  const { paths } = (await listener.inject('/operator/openapi.json')).json() as {
    paths: Record<string, Record<string, { servers?: { url: string }[] }>>;
  };
  assert.deepEqual(Object.keys(paths).sort(), Object.keys(operator.paths).sort());
  for (const [path, methods] of Object.entries(paths))
    for (const { servers } of Object.values(methods))
      assert.deepEqual(
        servers,
        path.startsWith('/dashboard/') ? [{ url: 'http://localhost:4000' }] : undefined,
        path,
      );
  assert.equal((await listener.inject('/operator/docs/')).statusCode, 200);
  assert.equal((await listener.inject('/openapi.json')).statusCode, 200);
  await listener.close();
});

test('calls at another address than the base URL have it: both token issuers, and that of uploads', async () => {
  const environment = {
    PORTICO_SANDBOX_AUTH_URL: 'https://sandbox.auth.example',
    PORTICO_PRODUCTION_AUTH_URL: 'https://auth.example',
    PORTICO_UPLOAD_URL: 'https://files.example',
  };
  const issuers = [environment.PORTICO_SANDBOX_AUTH_URL, environment.PORTICO_PRODUCTION_AUTH_URL];
  const expected: Record<string, string[]> = {
    ...{ oauth: issuers, '.well-known': issuers },
    ...{ uploads: [environment.PORTICO_UPLOAD_URL], downloads: [environment.PORTICO_UPLOAD_URL] },
  };
  const other = await createTestApp({ environment });
  const { body } = await other.call({ url: '/openapi.json' });
  const { servers: ofAll, paths } = body as {
    servers: object[];
    paths: Record<string, Record<string, { servers?: { url: string }[] }>>;
  };
  assert.deepEqual(ofAll, [{ url: 'http://localhost:4000' }]);
  for (const [path, methods] of Object.entries(paths))
    for (const { servers } of Object.values(methods))
      assert.deepEqual(
        servers?.map(({ url }) => url),
        expected[path.split('/')[1] ?? ''],
        path,
      );
  const { variable } = (await other.call({ url: '/postman.json' })).body as { variable: object[] };
  const value = 'https://sandbox.auth.example/oauth/token';
  assert.deepEqual(variable[1], { key: 'tokenUrl', value });
});

test('the examples of tokens have the default lifetime', () => {
  const exampleOf = (name: string) =>
    partner.components.schemas[name]?.examples?.[0] as Record<string, number>;
  assert.equal(exampleOf('Token').expires_in, TOKEN_LIFETIME_SECONDS);
  const { exp = 0, iat = 0 } = exampleOf('Introspection');
  assert.equal(exp - iat, TOKEN_LIFETIME_SECONDS);
});

test('the service accepts the examples of key pairs, customer tokens and subscriptions', async () => {
  const tenant = await createTenant(app);
  const token = await userToken(app, tenant.organizationGuid);
  const { clientId: client_id, secret: client_secret } = tenant.bankKey;
  const customer_guid = await createCustomer(app, tenant.bankGuid);
  for (const [url, name, own] of [
    ['/api/organization_applications', 'NewApplication', {}],
    ['/api/bank_applications', 'NewBankApplication', { bank_guid: tenant.bankGuid }],
    ['/oauth/customer_token', 'CustomerTokenRequest', { client_id, client_secret, customer_guid }],
    ['/api/subscriptions', 'NewSubscription', {}],
  ] as const) {
    const payload = { ...(partner.components.schemas[name]?.examples?.[0] as object), ...own };
    const answer = await app.call({ method: 'POST', url, token, payload });
    assert.ok(answer.status < 300, `${name}: ${JSON.stringify(answer.body)}`);
  }
});

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
    assert.ok(partner.components.schemas[name], name);
  for (const { components, paths } of [partner, operator]) {
    for (const [name, { examples }] of Object.entries(components.schemas))
      assert.equal(examples?.length, 1, name);
    const unnamed = Object.entries(paths).filter(([, methods]) =>
      /"application\/json":\{"schema":(?!\{"\$ref"|\{\})/.test(JSON.stringify(methods)),
    );
    assert.deepEqual(unnamed, []);
  }
});

test('every tag in use is described, and no other', () => {
  for (const { tags, paths, webhooks = {} } of [partner, operator]) {
    const described = [paths, webhooks].flatMap(Object.values).flatMap(Object.values) as Described[];
    const used = new Set(described.flatMap((operation) => operation.tags));
    assert.deepEqual(new Set(tags.map(({ name }) => name)), used);
    for (const { name, description } of tags) assert.ok(description, name);
  }
});

test('an operation without credentials is marked as public', () => {
  const open = operations
    .filter(({ security }) => security?.length === 0)
    .map(({ operationId }) => operationId);
  assert.ok(open.includes('getJsonWebKeySet') && open.includes('uploadFile') && open.includes('logIn'));
  for (const { operationId, security } of operations) assert.ok(security, operationId);
});

test('every route is in one of the documents, and nothing else is', () => {
  const visible = routes.filter(({ method, schema }) => method !== 'HEAD' && !schema?.hide);
  const seen = visible.map(({ method, path }) => `${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}`);
  const documented = operations.map(({ method, path }) => `${method} ${path}`);
  assert.ok(documented.length > 0);
  assert.deepEqual(documented.sort(), seen.sort());
});

test('only documents, their collection and pages, email links and URLs of inboxes are hidden', () => {
  const hidden = new Set(routes.filter(({ schema }) => schema?.hide).map(({ path }) => path));
  const pages = ['/docs/', '/docs/js/scalar.js', '/openapi.json'];
  const all = [
    '/',
    '/postman.json',
    '/unsubscribe/:token',
    '/portico-inbox/:token',
    ...pages,
    ...pages.map((path) => `/operator${path}`),
  ];
  assert.deepEqual([...hidden].sort(), all.sort());
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
