import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type RawBuilder, sql } from 'kysely';
import { openTestDatabase } from '../../../testing/database/database.ts';
import {
  booleanArray,
  intArray,
  momentArray,
  preparedUuids,
  smallintArray,
  textArray,
  uuidArray,
} from './arrays.ts';

const { database } = await openTestDatabase({ migrated: false, connections: 1 });
const { queries } = database;

/** The array as PostgreSQL reads it. */
async function read<Value>(array: RawBuilder<Value[]>): Promise<Value[]> {
  const { rows } = await sql<{ value: Value }>`
    select value from unnest(${array}) with ordinality as v(value, position) order by position`.execute(
    queries,
  );
  return rows.map((row) => row.value);
}

const guid = fc
  .uint8Array({ minLength: 16, maxLength: 16 })
  .map((bytes) => Buffer.from(bytes).toString('hex'));
const moment = fc.date({
  min: new Date('0001-01-01T00:00:00Z'),
  max: new Date('9999-12-31T23:59:59.999Z'),
  noInvalidDate: true,
});
const orNull = <T>(values: fc.Arbitrary<T>) => fc.array(fc.option(values, { freq: 4 }), { maxLength: 20 });

const text = fc.string({ unit: 'grapheme', maxLength: 40 }).filter((given) => !given.includes('\0'));

const kinds = {
  uuid: [uuidArray, orNull(guid)],
  int: [intArray, fc.array(fc.integer())],
  smallint: [smallintArray, orNull(fc.integer({ min: -(2 ** 15), max: 2 ** 15 - 1 }))],
  boolean: [booleanArray, fc.array(fc.boolean())],
  timestamptz: [momentArray, orNull(moment)],
  text: [textArray, orNull(text)],
} as unknown as Record<
  string,
  [(values: readonly unknown[]) => RawBuilder<unknown[]>, fc.Arbitrary<unknown[]>]
>;

for (const [type, [arrayOf, values]] of Object.entries(kinds)) {
  test(`${type} values and nulls arrive unchanged`, async () => {
    await fc.assert(
      fc.asyncProperty(values, async (given) => assert.deepEqual(await read(arrayOf(given)), given)),
      { numRuns: 40 },
    );
  });

  test(`an empty list of ${type} is an empty array`, async () => {
    assert.deepEqual(await read(arrayOf([])), []);
    const { rows } = await sql<{ is_empty: boolean }>`select ${arrayOf([])} = '{}' as is_empty`.execute(
      queries,
    );
    assert.deepEqual(rows, [{ is_empty: true }]);
  });
}

test('a thousand values are one parameter', async () => {
  const guids = Array.from({ length: 1_000 }, (_, index) => index.toString(16).padStart(32, '0'));
  assert.deepEqual(await read(uuidArray(guids)), guids);
});

for (const bad of ['', 'f'.repeat(31), 'f'.repeat(33), `${'f'.repeat(31)}g`, 'é'.repeat(32)])
  test(`an invalid guid is rejected instead of truncated: '${bad}'`, () => {
    const good = '0'.repeat(32);
    assert.throws(() => uuidArray([good, bad, good]), /must have 32 hex digits/);
  });

test('two invalid guids whose lengths add up are rejected', () => {
  assert.throws(() => uuidArray(['f'.repeat(31), 'f'.repeat(33)]), /must have 32 hex digits/);
});

test('a prepared statement with guids is planned once', async () => {
  await sql`create table guids (guid uuid primary key)`.execute(queries);
  for (let execution = 0; execution < 20; execution++)
    await sql`/* prepared: planned_once */
      select guid from guids where guid = any(${preparedUuids(['a'.repeat(32)])})`.execute(queries);
  const { rows } = await sql<{ custom: number; generic: number }>`
    select custom_plans as custom, generic_plans as generic from pg_prepared_statements
    where name = 'planned_once'`.execute(queries);
  // PostgreSQL plans the first five executions, to compare the costs.
  assert.deepEqual(rows, [{ custom: 5, generic: 15 }]);
});
