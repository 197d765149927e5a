import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createCallers, issueToken } from '../../../../testing/api/api-callers.ts';
import { validCallOf } from '../../../../testing/api/api-calls.ts';
import { jsonBodyOf, type Operation, readOperations } from '../../../../testing/api/operations.ts';
import { type Answer, assertError, createTestApp, OPERATOR_TOKEN } from '../../../../testing/app/app.ts';
import { anySubscription } from '../../../../testing/webhooks/subscriptions.ts';

/** ETag, If-None-Match and If-Match on every single object of the OpenAPI document (contract, section 13). */
const app = await createTestApp();
const node = await createTestApp({ testDatabase: app.testDatabase, clock: app.clock });
const owner = await createCallers(app);
const isOfApi = ({ path }: Operation) => /^\/(api|operator)\//.test(path);
const operations = (await readOperations(app)).filter(isOfApi);
const changing = operations.filter(({ method }) => method === 'PATCH');
const isSingle = ({ method, path }: Operation) =>
  method === 'GET' && (path.endsWith('}') || changing.some((change) => change.path === path));
const singles = operations.filter(isSingle);
const EDITORS = 4;

/** The objects of paths under /operator. A new path adds its line. */
const OPERATOR_OBJECTS: Record<string, () => Promise<string>> = {
  '/operator/organizations/{guid}': async () => owner.organizationGuid,
  '/operator/banks/{guid}': async () => owner.bankGuid,
  '/operator/subscriptions/{guid}': async () => (await anySubscription(app, owner)).guid,
};

/** A change of each PATCH, by one of its fields. A PATCH without any of these fields adds a line. */
const NEW_VALUES: Record<string, (current: unknown) => unknown> = {
  name: (current) => `${current}!`,
  role: (current) => (current === 'developer' ? 'viewer' : 'developer'),
  protection_enabled: (current) => !current,
  second_factor_in_production: (current) => !current,
  state: () => 'refresh',
  read_through: (current) => (BigInt(`0x${current}`) + 1n).toString(16).padStart(32, '0'),
  email_types: (current) => (current as string[]).slice(1),
  waiting_threshold: (current = 0) => Number(current) + 1,
  // Shown masked, with its last four characters.
  url: (current) =>
    `https://hooks.example/services/T00000/B00000/secret/${String(current).endsWith('aaaa') ? 'bbbb' : 'aaaa'}`,
  labels: (current = []) => [`label ${(current as string[]).length}`, ...(current as string[])],
};

async function objectOf(operation: Operation) {
  if (operation.path.startsWith('/api/')) {
    const { url } = await validCallOf(app, { ...operation, method: 'GET' }, owner);
    return { url, token: await issueToken(app, owner, 'user') };
  }
  const guid = await OPERATOR_OBJECTS[operation.path]?.();
  assert.ok(guid, `OPERATOR_OBJECTS has no line for ${operation.path} yet`);
  return { url: operation.path.replace(/\{\w+\}/, guid), token: OPERATOR_TOKEN };
}

function changeOf(operation: Operation, current: Answer): object {
  const fields = Object.keys(jsonBodyOf(operation)?.properties ?? {});
  const field = fields.find((name) => NEW_VALUES[name]);
  assert.ok(field, `NEW_VALUES has no field of ${operation.operationId} yet`);
  return { [field]: NEW_VALUES[field]?.(current.body[field]) };
}

function tagOf(answer: Answer): string {
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  assert.match(String(answer.headers.etag), /^"[\w-]{43}(\.[\w-]{43})?"$/);
  return String(answer.headers.etag);
}

function describes({ parameters = [], responses }: Operation, header: string, status: number): void {
  assert.ok(
    parameters.some(({ in: place, name }) => place === 'header' && name === header),
    header,
  );
  assert.ok(responses[status], String(status));
  const { headers } = responses[200] as { headers?: object };
  assert.ok(headers && 'ETag' in headers);
}

test('the OpenAPI document lists single objects, and one for each PATCH', () => {
  assert.ok(singles.length >= 20, `${singles.length} routes`);
  for (const { path } of changing)
    assert.ok(
      singles.some((single) => single.path === path),
      path,
    );
});

for (const operation of singles) {
  test(`${operation.operationId}: has an ETag, and 304 without a body while it stays the same`, async () => {
    describes(operation, 'If-None-Match', 304);
    const object = await objectOf(operation);
    const get = (tags?: string, method: 'GET' | 'HEAD' = 'GET') =>
      app.call({ ...object, method, headers: tags === undefined ? {} : { 'if-none-match': tags } });
    const first = await get();
    const tag = tagOf(first);
    assert.equal(first.headers['cache-control'], 'no-store');
    assert.equal(tagOf(await get()), tag);
    for (const tags of [tag, `W/${tag}`, `"other", ${tag}`, '*'])
      for (const method of ['GET', 'HEAD'] as const) {
        const { status, headers, body } = await get(tags, method);
        assert.deepEqual([status, headers.etag, body], [304, tag, {}], tags);
        assert.deepEqual([headers['content-type'], headers['content-length']], [undefined, undefined]);
        assert.equal(headers['cache-control'], 'no-store');
      }
    assert.deepEqual((await get('"other"')).body, first.body);
    for (const malformed of ['', 'other', '"a" "b"'])
      assertError(await get(malformed), 400, 'invalid_parameter', /^If-None-Match must be \* or a list/);
  });
}

for (const operation of changing) {
  const { operationId } = operation;

  test(`${operationId}: If-Match refuses a change of another version`, async () => {
    describes(operation, 'If-Match', 412);
    const object = await objectOf(operation);
    const patch = (payload: object, tags?: string) =>
      app.call({
        ...{ ...object, method: 'PATCH', payload },
        headers: tags === undefined ? {} : { 'if-match': tags },
      });
    const before = await app.call(object);
    const tag = tagOf(before);
    const change = changeOf(operation, before);
    for (const tags of ['"other"', `W/${tag}`, `"other", W/${tag}`])
      assertError(await patch(change, tags), 412, 'precondition_failed', /If-Match/);
    for (const malformed of ['', 'other', tag.slice(1)])
      assertError(await patch(change, malformed), 400, 'invalid_parameter', /^If-Match must be \* or a list/);
    assert.deepEqual((await app.call(object)).body, before.body);

    // The clock stands still, so both versions have the same updated_at.
    const next = tagOf(await patch(change, `"other", ${tag}`));
    assert.notEqual(next, tag);
    const after = await app.call(object);
    assert.equal(tagOf(after), next);
    assertError(await patch(changeOf(operation, after), tag), 412, 'precondition_failed');
    assert.equal(tagOf(await patch({ ...change }, next)), next, 'an unchanged object keeps its tag');
    assert.equal((await patch(change, '*')).status, 200);
    assert.equal((await patch(change)).status, 200);
  });

  test(`${operationId}: of several editors on two nodes one changes the version`, async () => {
    const object = await objectOf(operation);
    const current = await app.call(object);
    const tag = tagOf(current);
    const change = changeOf(operation, current);
    const answers = await Promise.all(
      Array.from({ length: EDITORS }, (_, editor) =>
        (editor % 2 === 0 ? app : node).call({
          ...{ ...object, method: 'PATCH', payload: change },
          headers: { 'if-match': tag },
        }),
      ),
    );
    const statuses = answers.map(({ status }) => status).sort();
    assert.deepEqual(statuses, [200, ...Array.from({ length: EDITORS - 1 }, () => 412)]);
  });
}

test('an absent object is not found, whatever the header', async () => {
  const token = await issueToken(app, owner, 'organization');
  const url = `/api/banks/${'0'.repeat(32)}`;
  for (const tags of ['*', '"other"']) {
    assertError(await app.call({ url, token, headers: { 'if-none-match': tags } }), 404, 'not_found');
    const change = { method: 'PATCH', url, token, payload: {} } as const;
    assertError(await app.call({ ...change, headers: { 'if-match': tags } }), 404, 'not_found');
  }
});

test('a key that changes itself passes If-Match, though each call is a use of it', async () => {
  const url = `/api/organization_applications/${owner.organizationKey.clientId}`;
  const token = await issueToken(app, owner, 'organization');
  const first = await app.call({ url, token });
  app.clock.advance(1_000);
  const second = await app.call({ url, token, headers: { 'if-none-match': tagOf(first) } });
  assert.notEqual(second.body.last_used_at, first.body.last_used_at);
  const change = { method: 'PATCH', url, token, payload: { name: 'Own key' } } as const;
  const headers = { 'if-match': tagOf(first) };
  assert.equal((await app.call({ ...change, headers })).status, 200);
  assertError(await app.call({ ...change, headers }), 412, 'precondition_failed');
});

test('repeated headers are one list', async () => {
  const object = await objectOf({ ...(singles[0] as Operation), path: '/api/banks/{guid}' });
  const tag = tagOf(await app.call(object));
  const headers = { 'if-none-match': ['"other"', tag] } as unknown as Record<string, string>;
  assert.equal((await app.call({ ...object, headers })).status, 304);
});
