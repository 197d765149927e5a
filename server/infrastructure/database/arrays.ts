import { type RawBuilder, sql } from 'kysely';

/**
 * Passes many rows as a few array parameters (`unnest`) in PostgreSQL's binary format; parsing text arrays costs a good
 * part of the insert.
 */

/** OIDs of the element types in `pg_type`, the same in every database. */
const BOOLEAN = 16;
const SMALLINT = 21;
const INT = 23;
const TEXT = 25;
const TIMESTAMPTZ = 1184;
const UUID = 2950;

const NULL_LENGTH = -1;
const LENGTH_BYTES = 4;
const HEADER_BYTES = 20;
const UUID_BYTES = 16;
const NO_GUID = 'a guid must have 32 hex digits';
const MICROSECONDS_PER_MS = 1_000n;
/** PostgreSQL's epoch. */
const EPOCH_MS = Date.UTC(2000, 0, 1);

export function uuidArray(guids: readonly (string | null)[]): RawBuilder<string[]> {
  // One hex decoding for all guids is faster than one per guid.
  let digits = '';
  for (const guid of guids) {
    if (guid !== null && guid.length !== 2 * UUID_BYTES) throw new TypeError(NO_GUID);
    digits += guid === null ? 'ffffffff' : `00000010${guid}`;
  }
  const array = Buffer.allocUnsafe(HEADER_BYTES + digits.length / 2);
  // `write` stops at the first character that is not a hex digit.
  if (array.write(digits, HEADER_BYTES, 'hex') !== digits.length / 2) throw new TypeError(NO_GUID);
  return sql`${headed(array, UUID, guids.length)}::uuid[]`;
}

/**
 * For `= any(…)` of a prepared statement. With the bare parameter the planner expects ten guids in a plan for every
 * execution and the real number in one for this execution. For fewer the latter looks cheaper, so it plans each of them.
 */
export function preparedUuids(guids: readonly string[]): RawBuilder<string[]> {
  return sql`array(select unnest(${uuidArray(guids)}))`;
}

export function textArray(texts: readonly (string | null)[]): RawBuilder<string[]> {
  const bytes = texts.reduce(
    (sum, text) => sum + LENGTH_BYTES + (text === null ? 0 : Buffer.byteLength(text)),
    0,
  );
  const array = Buffer.allocUnsafe(HEADER_BYTES + bytes);
  let at = HEADER_BYTES;
  for (const text of texts) {
    const length = text === null ? NULL_LENGTH : array.write(text, at + LENGTH_BYTES);
    array.writeInt32BE(length, at);
    at += LENGTH_BYTES + Math.max(0, length);
  }
  return sql`${headed(array, TEXT, texts.length)}::text[]`;
}

export function intArray(numbers: readonly number[]): RawBuilder<number[]> {
  return sql`${fixed(INT, 4, numbers, (array, number, at) => array.writeInt32BE(number, at))}::int[]`;
}

export function smallintArray(numbers: readonly (number | null)[]): RawBuilder<number[]> {
  return sql`${fixed(SMALLINT, 2, numbers, (array, number, at) => array.writeInt16BE(number, at))}::smallint[]`;
}

export function booleanArray(values: readonly boolean[]): RawBuilder<boolean[]> {
  return sql`${fixed(BOOLEAN, 1, values, (array, value, at) => array.writeUInt8(value ? 1 : 0, at))}::boolean[]`;
}

export function momentArray(moments: readonly (Date | null)[]): RawBuilder<Date[]> {
  const put = (array: Buffer, moment: Date, at: number) =>
    array.writeBigInt64BE(BigInt(moment.getTime() - EPOCH_MS) * MICROSECONDS_PER_MS, at);
  return sql`${fixed(TIMESTAMPTZ, 8, moments, put)}::timestamptz[]`;
}

function fixed<Value extends number | boolean | Date>(
  type: number,
  width: number,
  values: readonly (Value | null)[],
  put: (array: Buffer, value: Value, at: number) => void,
): Buffer {
  const array = Buffer.allocUnsafe(HEADER_BYTES + values.length * (LENGTH_BYTES + width));
  let at = HEADER_BYTES;
  for (const value of values) {
    array.writeInt32BE(value === null ? NULL_LENGTH : width, at);
    at += LENGTH_BYTES;
    if (value === null) continue;
    put(array, value, at);
    at += width;
  }
  return headed(array.subarray(0, at), type, values.length);
}

/** One dimension with a lower bound of 1; an empty array has none. */
function headed(array: Buffer, type: number, length: number): Buffer {
  const isEmpty = length === 0;
  array.writeInt32BE(isEmpty ? 0 : 1, 0);
  // PostgreSQL finds nulls by their length and ignores this flag.
  array.writeInt32BE(0, 4);
  array.writeInt32BE(type, 8);
  array.writeInt32BE(length, 12);
  array.writeInt32BE(1, 16);
  return isEmpty ? array.subarray(0, 12) : array;
}
