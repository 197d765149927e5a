import assert from 'node:assert/strict';
import { test } from 'node:test';
import { accepts, type JsonSchema } from '../../../../testing/api/json-samples.ts';
import {
  addressOf,
  assertQuietLog,
  assertRefused,
  createOperations,
  createSharedRules,
  EXTREME_MOMENTS,
  invalid,
  queryOf,
  UNLIMITED,
} from '../../../../testing/api/operations.ts';
import { createTestApp } from '../../../../testing/app/app.ts';

import { WORDS_PATTERN } from './filters.ts';

/** How each route rejects an invalid query string (contract, sections 1 and 5). */
const app = await createTestApp({ environment: UNLIMITED });
const { operations: all, call, tenant } = await createOperations(app);
const operations = all.filter((operation) => queryOf(operation).length > 0);
const lists = operations.filter((operation) => queryOf(operation).some(({ name }) => name === 'page'));
const EXTREME_NUMBERS = [
  '100',
  '9007199254740993',
  '0',
  '1',
  '9999',
  '10000',
  '2147483648',
  '1e308',
  '-1e308',
];
const GUID = '0199e5a4c1b27d3e8f60a1b2c3d4e5f6';
const valuesOf = createSharedRules();
const oneOf = (schema: JsonSchema) =>
  [GUID, 'completed', 'POST', '404'].find((value) => accepts(schema, value));

test('the OpenAPI document lists routes with a query', () => {
  assert.ok(operations.length >= 3, `${operations.length} routes`);
});

for (const operation of operations) {
  const { operationId } = operation;
  const ask = (query: string) => call(operation, { url: `${addressOf(operation)}?${query}` });

  test(`${operationId}: rejects an unknown parameter by name`, async () => {
    assertRefused(operation, await ask('no_such_parameter=1'), invalid('no_such_parameter'));
  });

  test(`${operationId}: rejects a repeated parameter that takes one value by name`, async () => {
    for (const { name } of queryOf(operation).filter(({ schema }) => !schema['x-repeatable']))
      assertRefused(operation, await ask(`${name}=1&${name}=2`), invalid(`${name} must be sent only once`));
  });

  test(`${operationId}: rejects an invalid value among repeated ones by name`, async () => {
    for (const { name, schema } of queryOf(operation).filter((each) => each.schema['x-repeatable']))
      if (schema.pattern && !accepts(schema, '!,!'))
        assertRefused(operation, await ask(`${name}=!&${name}=!`), invalid(name));
  });

  test(`${operationId}: rejects too many values of a filter with the limit, and no value with a pattern`, async () => {
    for (const { name, schema } of queryOf(operation)) {
      if (schema.pattern) assert.doesNotMatch(String((await ask(`${name}=!`)).body.message), /pattern|\^/);
      const max = schema['x-max-values'];
      if (max === undefined) continue;
      const tooMany = Array(max + 1)
        .fill(oneOf(schema))
        .join(',');
      const answer = await ask(`${name}=${tooMany}`);
      assertRefused(operation, answer, invalid(`${name} must have at most ${max} values`));
      assertRefused(operation, await ask(`${name}=${tooMany},!`), invalid(`${name} must be`));
    }
  });

  test(`${operationId}: rejects an invalid value by the name of its parameter`, async () => {
    for (const { name, schema } of queryOf(operation)) {
      const texts = ['a\0b', '\0', 'x'.repeat(10_000)].map(encodeURIComponent);
      const hasForm = schema.enum || schema.pattern || schema.format || schema.anyOf;
      const others = ['xyz', '', '1', 'null', '%F0%9F%92%A5'].filter((value) => !accepts(schema, value));
      for (const text of [
        ...(schema.type === 'string' ? valuesOf(['text', schema], texts) : []),
        ...(hasForm ? valuesOf(['form', schema], others) : []),
      ])
        assertRefused(operation, await ask(`${name}=${text}`), invalid(name));
    }
  });
}

/** Codes are added with every version, and the log has those of earlier ones. */
const OPEN_NAMES = ['message_code'];

test('a filter of names refuses a name that no object can have, and says which there are', async () => {
  const filters = operations.flatMap((operation) =>
    queryOf(operation)
      .filter(({ name, schema }) => schema.pattern === WORDS_PATTERN && !OPEN_NAMES.includes(name))
      .map(({ name }) => ({ operation, name })),
  );
  assert.ok(filters.length >= 20, `${filters.length} filters`);
  for (const { operation, name } of filters) {
    const url = addressOf(operation, { guid: tenant.organizationGuid });
    const answer = await call(operation, { url: `${url}?${name}=no_such_name` });
    assertRefused(operation, answer, invalid(name));
    assert.match(String(answer.body.message), /must be .+; got no_such_name$/, operation.operationId);
  }
});

for (const operation of lists) {
  const ask = (query: string) => call(operation, { url: `${addressOf(operation)}?${query}` });

  test(`${operation.operationId}: rejects pages outside the limits by name`, async () => {
    const schemas = queryOf(operation).filter(({ name }) => ['page', 'per_page', 'after'].includes(name));
    const hasAfter = schemas.some(({ name }) => name === 'after');
    const pages = ['-1', '1e9', '1.5', 'abc', '99999999999999999999', '500&per_page=20'];
    for (const [name, queries] of [
      ['page', pages.map((page) => `page=${page}`)],
      ['per_page', ['per_page=101', 'per_page=0', 'per_page=x']],
      ['after', ['after=xyz', `after=${GUID.toUpperCase()}`]],
      [hasAfter ? 'page and after' : 'after', [`page=0&after=${GUID}`]],
    ] as const)
      for (const query of valuesOf([name, schemas], queries))
        assertRefused(operation, await ask(query), invalid(name));
  });
}

test('page and per_page are decimal integers', async () => {
  const [operation] = lists;
  assert.ok(operation);
  const other = ['0x1', '0b1', '1e1', '1.0', '+1', ' 1', '1 ', '-0x1', '', '1e400', '9'.repeat(400)];
  for (const name of ['page', 'per_page']) {
    const ask = (value: string): ReturnType<typeof call> =>
      call(operation, { url: `${addressOf(operation)}?${new URLSearchParams({ [name]: value })}` });
    assert.equal((await ask('01')).status, 200);
    for (const value of other)
      assertRefused(operation, await ask(value), invalid(`${name} must be an integer`));
  }
});

test('a date filter accepts a date as midnight UTC, and its error shows the accepted form', async () => {
  const filters = operations.flatMap((operation) =>
    queryOf(operation)
      .filter(({ schema }) => schema.anyOf?.some(({ format }) => format === 'date'))
      .map(({ name, schema }) => ({ operation, name, schema })),
  );
  assert.ok(filters.length >= 20, `${filters.length} filters`);
  for (const { operation, name, schema } of filters) {
    const ask = (value: string) =>
      call(operation, { url: `${addressOf(operation)}?${new URLSearchParams({ [name]: value })}` });
    const accepted = ['2026-11-15', '2024-02-29', '2026-11-15T00:00:00+01:00'];
    for (const value of valuesOf(['accepted', schema], accepted))
      assert.notEqual((await ask(value)).status, 400, `${operation.operationId} ${name}=${value}`);
    for (const value of valuesOf(
      ['refused', schema],
      [
        '2026-02-29',
        '2026-11-15T00:00',
        '15.11.2026',
        '2026-11',
        '1763164800',
        ' 2026-11-15',
        '2026-11-15\u202800:00:00Z',
        '2016-12-31T23:59:60Z',
      ],
    ))
      assert.equal(
        (await ask(value)).body.message,
        `${name} must be an ISO 8601 date or date-time, for example 2026-11-15T00:00:00Z`,
      );
  }
});

for (const operation of operations)
  test(`${operation.operationId}: extreme dates and numbers cause no server error`, async () => {
    for (const { name, schema } of queryOf(operation)) {
      const isMoment = schema.anyOf?.some(({ format }) => format === 'date-time');
      if (!isMoment && schema.type !== 'integer') continue;
      // Each filter has its own SQL; the numbers of pages share theirs.
      const numbers = valuesOf(['number', name, schema], EXTREME_NUMBERS, { later: 2 });
      for (const value of isMoment ? EXTREME_MOMENTS : numbers) {
        const query = new URLSearchParams({ [name]: value });
        const { status, body } = await call(operation, { url: `${addressOf(operation)}?${query}` });
        assert.ok(status < 500, `${name}=${value}: ${JSON.stringify(body)}`);
      }
    }
  });

test('no request caused a server error or filled the log', () => assertQuietLog(app));
