import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTestApp } from '../../../../testing/app.ts';
import { accepts } from '../../../../testing/json-samples.ts';
import {
  addressOf,
  assertQuietLog,
  assertRefused,
  createOperations,
  EXTREME_MOMENTS,
  invalid,
  queryOf,
  UNLIMITED,
} from '../../../../testing/operations.ts';

/** How each route rejects an invalid query string (contract, sections 1 and 5). */
const app = await createTestApp({ environment: UNLIMITED });
const { operations: all, call } = await createOperations(app);
const operations = all.filter((operation) => queryOf(operation).length > 0);
const lists = operations.filter((operation) => queryOf(operation).some(({ name }) => name === 'page'));
const EXTREME_NUMBERS = [
  '0',
  '1',
  '100',
  '9999',
  '10000',
  '2147483648',
  '1e308',
  '-1e308',
  '9007199254740993',
];
const GUID = '0199e5a4c1b27d3e8f60a1b2c3d4e5f6';

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
      assertRefused(operation, await ask(`${name}=1&${name}=2`), invalid(name));
  });

  test(`${operationId}: rejects an invalid value among repeated ones by name`, async () => {
    for (const { name, schema } of queryOf(operation).filter((each) => each.schema['x-repeatable']))
      if (schema.pattern && !accepts(schema, '!,!'))
        assertRefused(operation, await ask(`${name}=!&${name}=!`), invalid(name));
  });

  test(`${operationId}: rejects an invalid value by the name of its parameter`, async () => {
    for (const { name, schema } of queryOf(operation)) {
      for (const text of ['\0', 'a\0b', 'x'.repeat(10_000)])
        if (schema.type === 'string')
          assertRefused(operation, await ask(`${name}=${encodeURIComponent(text)}`), invalid(name));
      if (schema.enum || schema.pattern || schema.format || schema.anyOf)
        for (const text of ['', 'xyz', '1', 'null', '%F0%9F%92%A5'].filter(
          (value) => !accepts(schema, value),
        ))
          assertRefused(operation, await ask(`${name}=${text}`), invalid(name));
    }
  });
}

for (const operation of lists) {
  const ask = (query: string) => call(operation, { url: `${addressOf(operation)}?${query}` });

  test(`${operation.operationId}: rejects pages outside the limits by name`, async () => {
    const hasAfter = queryOf(operation).some(({ name }) => name === 'after');
    for (const [query, name] of [
      ['page=-1', 'page'],
      ['page=1e9', 'page'],
      ['page=1.5', 'page'],
      ['page=abc', 'page'],
      ['page=99999999999999999999', 'page'],
      ['page=500&per_page=20', 'page'],
      ['per_page=0', 'per_page'],
      ['per_page=101', 'per_page'],
      ['per_page=x', 'per_page'],
      ['after=xyz', 'after'],
      [`after=${GUID.toUpperCase()}`, 'after'],
      [`page=0&after=${GUID}`, hasAfter ? 'page and after' : 'after'],
    ] as const)
      assertRefused(operation, await ask(query), invalid(name));
  });
}

test('a date filter accepts a date as midnight UTC, and its error shows the accepted form', async () => {
  const filters = operations.flatMap((operation) =>
    queryOf(operation)
      .filter(({ schema }) => schema.anyOf?.some(({ format }) => format === 'date'))
      .map(({ name }) => ({ operation, name })),
  );
  assert.ok(filters.length >= 20, `${filters.length} filters`);
  for (const { operation, name } of filters) {
    const ask = (value: string) =>
      call(operation, { url: `${addressOf(operation)}?${new URLSearchParams({ [name]: value })}` });
    for (const value of ['2026-11-15', '2024-02-29', '2026-11-15T00:00:00+01:00'])
      assert.notEqual((await ask(value)).status, 400, `${operation.operationId} ${name}=${value}`);
    for (const value of [
      '2026-02-29',
      '2026-11-15T00:00',
      '15.11.2026',
      '2026-11',
      '1763164800',
      ' 2026-11-15',
      '2026-11-15\u202800:00:00Z',
      '2016-12-31T23:59:60Z',
    ])
      assert.equal(
        (await ask(value)).body.message,
        `${name} must be an ISO 8601 date or date-time, for example 2026-11-15T00:00:00Z`,
      );
  }
});

test('extreme dates and numbers cause no server error in lists, and nothing is logged', async () => {
  for (const operation of operations) {
    const ask = (query: Record<string, string>) =>
      call(operation, { url: `${addressOf(operation)}?${new URLSearchParams(query)}` });
    for (const { name, schema } of queryOf(operation)) {
      const isMoment = schema.anyOf?.some(({ format }) => format === 'date-time');
      const values = isMoment ? EXTREME_MOMENTS : EXTREME_NUMBERS;
      if (!isMoment && schema.type !== 'integer') continue;
      for (const value of values) {
        const { status, body } = await ask({ [name]: value });
        assert.ok(status < 500, `${operation.operationId} ${name}=${value}: ${JSON.stringify(body)}`);
      }
    }
  }
  assertQuietLog(app);
});
