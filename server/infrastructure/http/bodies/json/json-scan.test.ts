import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ANY_CHARACTER } from '../../../../../testing/api/any-character.ts';
import { createJsonScan, MAX_JSON_DEPTH, MAX_JSON_ENTRIES, MAX_OBJECT_KEYS } from './json-scan.ts';
import { createLongText } from './long-text.ts';

function scan(text: string | Buffer, { chunkBytes = 65_536, longField = 'data' } = {}) {
  const bytes = Buffer.from(text);
  const kept: Uint8Array[] = [];
  const scanner = createJsonScan((piece) => kept.push(piece), longField);
  for (let at = 0; at < bytes.length; at += chunkBytes) {
    const problem = scanner.write(bytes.subarray(at, at + chunkBytes));
    if (problem !== undefined) return { problem, kept: '' };
  }
  const raw = scanner.longText();
  const long = raw && createLongText(raw);
  return { kept: Buffer.concat(kept).toString(), long };
}

const objectOf = (keys: number) =>
  `{${Array.from({ length: keys }, (_, index) => `"k${index}":0`).join(',')}}`;

test('nesting, keys per object and entries in total are limited, and the message names the limit', () => {
  const deep = (levels: number) => `{"field":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`;
  assert.equal(scan(deep(MAX_JSON_DEPTH)).problem, undefined);
  assert.equal(scan(deep(MAX_JSON_DEPTH + 1)).problem, 'field must be nested at most 32 levels deep');
  assert.equal(scan('['.repeat(100_000)).problem, 'The request body must be nested at most 32 levels deep');
  assert.equal(scan(objectOf(MAX_OBJECT_KEYS)).problem, undefined);
  assert.match(scan(objectOf(MAX_OBJECT_KEYS + 1)).problem ?? '', /must have at most 100 keys/);
  assert.match(scan(`[[],${objectOf(MAX_OBJECT_KEYS + 1)}]`).problem ?? '', /at most 100 keys/);
  const zeros = (count: number) => `[${'0,'.repeat(count - 1)}0]`;
  assert.equal(scan(zeros(MAX_JSON_ENTRIES)).problem, undefined);
  assert.match(scan(zeros(MAX_JSON_ENTRIES + 1)).problem ?? '', /at most 10000 entries/);
  assert.match(scan(`[${'[],'.repeat(MAX_JSON_ENTRIES)}[]]`).problem ?? '', /at most 10000 entries/);
});

test('the largest request of the contract is within the limits', () => {
  const event = { guid: 'x', organization_guid: 'x', bank_guid: 'x', event_type: 'x', object_guid: 'x' };
  const events = Array.from({ length: 1_000 }, () => ({ ...event, environment: 'x' }));
  assert.equal(scan(JSON.stringify({ events }, null, 2)).problem, undefined);
});

test('the content of strings is not structure, however it is escaped and split', () => {
  const text = JSON.stringify({ a: '[{,:"\\'.repeat(20_000), b: '\\"'.repeat(5_000) });
  for (const chunkBytes of [1, 2, 7, 65_536]) assert.equal(scan(text, { chunkBytes }).problem, undefined);
});

test('the long field is removed from the text, and everything else is unchanged', () => {
  const value = fc.oneof(
    fc.jsonValue({ maxDepth: 4 }),
    fc.string({ unit: ANY_CHARACTER }),
    fc.constantFrom('data', ':', '"', '\\', '\u0000', 'QUJD'.repeat(50), '\\u002F'.repeat(30)),
  );
  const body = fc.record(
    {
      a: value,
      data: fc.string({ unit: 'grapheme', maxLength: 300 }),
      b: fc.record({ data: value }),
      c: value,
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(body, fc.integer({ min: 1, max: 40 }), fc.boolean(), (sent, chunkBytes, isEscaped) => {
      const plain = JSON.stringify(sent);
      const written = JSON.stringify(sent.data ?? null);
      const escaped = written.replaceAll('/', '\\/').replaceAll('+', '\\u002B');
      const text = isEscaped ? plain.replace(written, () => escaped) : plain;
      const { kept, long, problem } = scan(text, { chunkBytes });
      assert.equal(problem, undefined);
      const { data, ...rest } = JSON.parse(plain);
      assert.deepEqual(JSON.parse(kept), data === undefined ? rest : { ...JSON.parse(plain), data: '' });
      assert.equal(long && [...long.pieces()].join(''), data);
    }),
    { numRuns: 300 },
  );
});

test('a number with a point or an exponent is noticed, also between chunks', () => {
  const hasDecimals = (text: string, chunkBytes: number) => {
    const scanner = createJsonScan(() => undefined);
    const bytes = Buffer.from(text);
    for (let at = 0; at < bytes.length; at += chunkBytes) scanner.write(bytes.subarray(at, at + chunkBytes));
    return scanner.hasDecimals();
  };
  for (const chunkBytes of [1, 2, 3, 100]) {
    for (const number of ['1.5', '1e0', '1E0', '-10e-2'])
      assert.equal(hasDecimals(`{"a": [${number}]}`, chunkBytes), true, number);
    for (const value of ['15', '-1', 'true', 'false', 'null', '"1.5e3"', '"\\"1.5"'])
      assert.equal(hasDecimals(`{"a.1e": [${value}]}`, chunkBytes), false, value);
  }
});

test('the length of the long field counts characters, not escape sequences', () => {
  for (const [written, characters] of [
    ['AAAA', 4],
    ['A\\/\\u002BA', 4],
    ['', 0],
    ['\\\\\\"', 2],
  ] as const)
    for (const chunkBytes of [1, 3, 100])
      assert.equal(scan(`{"data":"${written}"}`, { chunkBytes }).long?.characters, characters);
});

test('the last of several long fields wins, as with JSON.parse', () => {
  const { kept, long } = scan('{"data":"first","data":"second"}');
  assert.deepEqual([[...(long?.pieces() ?? [])].join(''), kept], ['second', '{"data":"","data":""}']);
});

test('a long field with invalid JSON or UTF-8 is rejected when it is read', () => {
  for (const wrong of ['a\nb', '\\x', '\\u00G0']) {
    const { long } = scan(`{"data":"${wrong}"}`);
    assert.throws(() => [...(long?.pieces() ?? [])], /must be valid JSON/, wrong);
  }
  const { long } = scan(Buffer.concat([Buffer.from('{"data":"'), Buffer.from([0xc3]), Buffer.from('"}')]));
  assert.throws(() => [...(long?.pieces() ?? [])], /must be valid UTF-8 without compression/);
});
