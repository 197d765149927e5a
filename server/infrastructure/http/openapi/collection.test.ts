import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runInNewContext } from 'node:vm';
import { createTestApp } from '../../../../testing/app/app.ts';
import { createTenant } from '../../../../testing/app/tenant.ts';

type Entry = { key: string; value: string; disabled?: boolean };
type Item = {
  name: string;
  request: {
    method: 'GET' | 'POST';
    auth?: { type: string };
    header: Entry[];
    url: { raw: string; query: Entry[] };
    body?: { raw: string };
  };
};
type Collection = {
  variable: Entry[];
  event: { script: { exec: string[] } }[];
  item: { name: string; item: Item[] }[];
};
type Token = { url: string; method: 'POST'; header: Record<string, string>; body: { raw: string } };

const app = await createTestApp();
const collection = (await app.call({ url: '/postman.json' })).body as unknown as Collection;
const document = (await app.call({ url: '/openapi.json' })).body as { paths: Record<string, object> };
const items = collection.item.flatMap(({ item }) => item);

/**
 * What the tools do: the script, then the request with the variables in place. Bruno translates `pm`: there
 * `pm.variables` has only values that scripts set.
 */
function createClient(settings: Record<string, string>, tool: 'Postman' | 'Bruno' = 'Postman') {
  const ofCollection = new Map(collection.variable.map(({ key, value }) => [key, value]));
  for (const [key, value] of Object.entries(settings)) ofCollection.set(key, value);
  const ofScripts = new Map<string, string>();
  let tokens = 0;
  const find = (key: string) => ofScripts.get(key) ?? ofCollection.get(key);
  const fill = (text: string) => text.replaceAll(/\{\{(\w+)\}\}/g, (_, name) => find(name) ?? '');
  const call = (url: string, method: 'GET' | 'POST', headers: Record<string, string>, payload?: string) =>
    app.call({ url: new URL(url).pathname, method, headers, ...(payload ? { payload } : {}) });

  return {
    tokens: () => tokens,
    async send(name: string) {
      const item = items.find((candidate) => candidate.name === name);
      assert.ok(item, name);
      if (tool === 'Postman') ofScripts.clear();
      let sent = Promise.resolve();
      const sendRequest = ({ url, method, header, body }: Token, done: (...answer: unknown[]) => void) => {
        tokens += 1;
        sent = call(url, method, header, body.raw).then(({ status, body: answer }) =>
          done(undefined, { code: status, json: () => answer }),
        );
      };
      const pm = {
        info: { requestName: name },
        variables: {
          get: (key: string) => (tool === 'Postman' ? find(key) : ofScripts.get(key)),
          set: (key: string, value: string) => ofScripts.set(key, value),
        },
        environment: { get: () => undefined },
        collectionVariables: {
          get: (key: string) => ofCollection.get(key),
          set: (key: string, value: string) => ofCollection.set(key, value),
        },
        sendRequest,
      };
      runInNewContext(collection.event[0]?.script.exec.join('\n') ?? '', { pm });
      await sent;
      const { method, url, header, body } = item.request;
      const shown = header.filter(({ disabled }) => !disabled).map(({ key, value }) => [key, fill(value)]);
      const headers = { ...Object.fromEntries(shown), authorization: fill('Bearer {{token}}') };
      return call(fill(url.raw), method, headers, body?.raw);
    },
  };
}

test('the collection has every operation once, under a name of its own', () => {
  const described = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map(
      (method) => `${method.toUpperCase()} {{baseUrl}}${path.replaceAll(/\{(\w+)\}/g, ':$1')}`,
    ),
  );
  assert.deepEqual(
    items.map(({ request }) => `${request.method} ${request.url.raw}`).sort(),
    described.sort(),
  );
  assert.equal(new Set(items.map(({ name }) => name)).size, items.length);
});

/** Of the published schema of version 2.1: what an importer reads. Others it would ignore silently. */
const MEMBERS = {
  collection: ['info', 'auth', 'variable', 'event', 'item'],
  request: ['method', 'description', 'auth', 'header', 'url', 'body'],
  url: ['raw', 'host', 'path', 'query', 'variable'],
  entry: ['key', 'value', 'description', 'disabled'],
  body: ['mode', 'raw', 'options'],
};

test('the collection has the members of version 2.1 and no others', () => {
  const check = (value: object | undefined, known: readonly string[]) =>
    assert.deepEqual(
      Object.keys(value ?? {}).filter((name) => !known.includes(name)),
      [],
    );
  check(collection, MEMBERS.collection);
  const { schema } = (collection as unknown as { info: { schema: string } }).info;
  assert.equal(schema, 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json');
  for (const { name, request, ...others } of items) {
    check(others, []);
    check(request, MEMBERS.request);
    check(request.url, MEMBERS.url);
    check(request.body, MEMBERS.body);
    for (const entry of [...request.header, ...request.url.query]) check(entry, MEMBERS.entry);
    const { path, variable } = request.url as unknown as { path: string[]; variable: Entry[] };
    const named = path.filter((part) => part.startsWith(':')).map((part) => part.slice(1));
    assert.deepEqual(
      named,
      variable.map(({ key }) => key),
      name,
    );
  }
});

for (const tool of ['Postman', 'Bruno'] as const)
  test(`in ${tool} a request gets a token with its scopes, which is used again`, async () => {
    const { bankKey } = await createTenant(app);
    const client = createClient({ clientId: bankKey.clientId, clientSecret: bankKey.secret }, tool);
    const names = { create: nameOf('POST', '/api/customers'), list: nameOf('GET', '/api/customers') };
    const created = await client.send(names.create);
    assert.equal(created.status, 201, JSON.stringify(created.body));
    assert.equal((await client.send(names.list)).body.total, 1);
    assert.equal((await client.send(names.list)).status, 200);
    assert.equal(client.tokens(), 2, 'one for each scope');
  });

test('a missing or wrong key pair is reported, and a user token is used as it is', async () => {
  const { bankKey } = await createTenant(app);
  const name = nameOf('GET', '/api/customers');
  await assert.rejects(createClient({}).send(name), /Set the variables clientId and clientSecret/);
  const wrong = createClient({ clientId: bankKey.clientId, clientSecret: 'wrong' });
  await assert.rejects(wrong.send(name), /No token: /);
  const person = createClient({ clientId: bankKey.clientId, userToken: 'not a token' });
  assert.equal((await person.send(name)).status, 401);
  assert.equal(person.tokens(), 0);
});

test('calls with the key pair send it, and calls under /api a token', () => {
  const auth = (path: string) =>
    items.find(({ request }) => request.url.raw.endsWith(path))?.request.auth?.type;
  assert.equal(auth('/oauth/introspect'), 'basic');
  assert.equal(auth('/jwks.json'), 'noauth');
  assert.equal(auth('/api/customers'), undefined);
});

function nameOf(method: string, path: string): string {
  const item = items.find(({ request }) => request.method === method && request.url.raw.endsWith(path));
  assert.ok(item, path);
  return item.name;
}
