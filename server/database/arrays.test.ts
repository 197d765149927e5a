import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import fc from 'fast-check';
import { sql } from 'kysely';
import { createTestDatabase } from '../../testing/database.ts';
import { createLog } from '../runtime/log.ts';
import { plainArray } from './arrays.ts';
import { createDatabase } from './database.ts';

const testDatabase = await createTestDatabase({ migrated: false });
const log = createLog({ level: 'silent', terminal: false });
const { queries, close } = createDatabase({ url: testDatabase.url, connections: 1, log });
after(async () => {
  await close();
  await testDatabase.drop();
});

type Value = string | number | Date | null;

/** What PostgreSQL makes of it, as rows in their order. */
async function read(
  type: 'uuid' | 'int' | 'bigint' | 'float8' | 'timestamptz' | 'text',
  values: readonly Value[],
) {
  const { rows } = await sql<{ value: unknown }>`
    select value from unnest(${plainArray(values)}::${sql.raw(type)}[]) with ordinality as v(value, position)
    order by position`.execute(queries);
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

test('nothing is an empty array', async () => {
  assert.equal(plainArray([]), '{}');
  assert.deepEqual(await read('uuid', []), []);
});

for (const [type, values] of [
  ['uuid', orNull(guid)],
  ['int', orNull(fc.integer())],
  ['bigint', orNull(fc.maxSafeInteger())],
  ['float8', orNull(fc.double({ noNaN: true }))],
  ['timestamptz', orNull(moment)],
  [
    'text',
    orNull(fc.constantFrom('transfer.completed', 'external_bank_account.storing', 'sandbox', 'timeout')),
  ],
] as const)
  test(`${type} arrives as it was, null as null`, async () => {
    await fc.assert(
      fc.asyncProperty(values as fc.Arbitrary<Value[]>, async (given) => {
        // PostgreSQL keeps the sign of a zero, and the driver reads it; no column of ours has one.
        const plain = given.map((value) => (value === 0 ? 0 : value));
        assert.deepEqual(await read(type, plain), plain);
      }),
      { numRuns: 40 },
    );
  });

test('moments that are the same, by turns, and beside null', async () => {
  const [one, other] = [new Date(0), new Date(1)];
  const moments = [one, new Date(0), other, one, null, one, other, null, null, other];
  assert.deepEqual(await read('timestamptz', moments), moments);
});

test('a thousand of them are one parameter', async () => {
  const guids = Array.from({ length: 1_000 }, (_, index) => index.toString(16).padStart(32, '0'));
  assert.deepEqual(await read('uuid', guids), guids);
});
