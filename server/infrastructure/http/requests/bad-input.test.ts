import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ANY_CHARACTER } from '../../../../testing/api/any-character.ts';
import { accepts } from '../../../../testing/api/json-samples.ts';
import {
  addressOf,
  assertQuietLog,
  assertRefused,
  createOperations,
  createSharedRules,
  type Operation,
  UNLIMITED,
} from '../../../../testing/api/operations.ts';
import { createTestApp } from '../../../../testing/app/app.ts';

/**
 * How each route handles invalid paths and methods. Bodies and queries are in `bad-body.test.ts` and
 * `bad-query.test.ts`.
 */
const app = await createTestApp({ environment: UNLIMITED });
const { operations, call } = await createOperations(app);
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND'] as const;
const ANY_TEXT = fc.string({ unit: ANY_CHARACTER, maxLength: 40 });
/** Built once: its tables of characters are large. */
const ANY_QUERY = fc.dictionary(ANY_TEXT, ANY_TEXT, { maxKeys: 3 });
const NOT_ALLOWED = { status: 405, code: 'method_not_allowed' };
const valuesOf = createSharedRules();

test('the OpenAPI document lists routes to check', () => {
  assert.ok(operations.length >= 10, `${operations.length} routes`);
});

for (const path of new Set(operations.map((operation) => operation.path))) {
  const [first] = operations.filter((operation) => operation.path === path) as [Operation];
  // A fixed segment of one path may match the parameter of another.
  const here = operations.filter((operation) => patternOf(operation).test(addressOf(first)));
  const methods = here.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
  const allowed = [...new Set(methods)].sort();

  test(`${path}: another method gets 405 with the allowed methods`, async () => {
    const url = addressOf(first);
    const others = METHODS.filter((candidate) => !allowed.includes(candidate));
    for (const method of others) {
      const answer = await app.call({ method: method as 'PUT', url });
      assertRefused(first, answer, NOT_ALLOWED);
      assert.equal(answer.headers.allow, allowed.join(', '));
    }
    // The method is rejected before the content type.
    const wrongType = { headers: { 'content-type': 'text/plain' }, payload: 'x' };
    for (const method of others.filter((name) => /^P(OST|UT|ATCH)$/.test(name)).slice(0, 1))
      assertRefused(first, await app.call({ method: method as 'PUT', url, ...wrongType }), NOT_ALLOWED);
  });
}

function patternOf({ path }: Operation): RegExp {
  return new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`);
}

for (const operation of operations) {
  const { operationId } = operation;

  test(`${operationId}: a trailing slash makes no difference`, async () => {
    const { method } = operation;
    // Changing calls are made without credentials, so that the first one does not affect the second.
    const ask = (url: string) => (method === 'GET' ? call(operation, { url }) : app.call({ method, url }));
    const plain = await ask(addressOf(operation));
    const slashed = await ask(`${addressOf(operation)}/`);
    assert.ok(method === 'GET' || plain.status !== 404);
    assert.deepEqual([slashed.status, slashed.body], [plain.status, plain.body]);
  });

  test(`${operationId}: an invalid path parameter is not found`, async () => {
    const inPath = (operation.parameters ?? []).filter((parameter) => parameter.in === 'path');
    for (const { name, schema } of inPath) {
      const long = [129, 300, 10_000].map((length) => '0'.repeat(length));
      const wrong = [
        'x',
        'ABCDEF',
        '0'.repeat(31),
        '0'.repeat(33),
        'G'.repeat(32),
        '%',
        '💥',
        'a/b',
        ...long,
      ];
      const refused = wrong.filter((candidate) => !accepts(schema, candidate));
      for (const value of ['\0', ...valuesOf(schema, refused)]) {
        const url = addressOf(operation, { [name]: value });
        assertRefused(operation, await call(operation, { url }), { status: 404, code: 'not_found' });
      }
    }
  });

  test(`${operationId}: an encoded character in a fixed segment is not found`, async () => {
    const { method, path } = operation;
    const fixed = path.split('/').flatMap((segment, index) => (/^[a-z]/.test(segment) ? [index] : []));
    for (const index of fixed) {
      const segments = addressOf(operation).split('/');
      segments[index] = String(segments[index]).replace(/^./, (letter) => `%${hex(letter)}`);
      const answer = await app.call({ method: method as 'PUT', url: segments.join('/') });
      assertRefused(operation, answer, { status: 404, code: 'not_found' });
    }
  });

  test(`${operationId}: a number that overflows is rejected by name`, async () => {
    const numbers = (operation.parameters ?? []).filter(
      ({ in: where, schema }) => where === 'query' && (schema as { type?: string }).type === 'integer',
    );
    for (const { name } of numbers)
      for (const value of ['1e400', '-1e400']) {
        const answer = await call(operation, { url: `${addressOf(operation)}?${name}=${value}` });
        assertRefused(operation, answer, { status: 400, code: 'invalid_parameter' });
        assert.match((answer.body as { message: string }).message, new RegExp(`^${name} must be`));
      }
  });

  test(`${operationId}: arbitrary queries cause no server error`, async () => {
    await fc.assert(
      fc.asyncProperty(ANY_QUERY, async (query) => {
        const url = `${addressOf(operation)}?${new URLSearchParams(query)}`;
        const { status, headers } = await call(operation, { url });
        assert.ok(status < 500 && headers['x-request-id'], `${status} for ${url}`);
      }),
      { numRuns: 8 },
    );
  });
}

test('a path of 16,000 slashes or segments is not found', async () => {
  for (const url of [`${'/'.repeat(16_000)}x`, '/x'.repeat(8_000), `/api/${'/'.repeat(16_000)}`])
    assert.ok([401, 404].includes((await app.call({ url })).status));
});

test('no request caused a server error or filled the log', () => assertQuietLog(app));
function hex(letter: string): string {
  return letter.charCodeAt(0).toString(16);
}
