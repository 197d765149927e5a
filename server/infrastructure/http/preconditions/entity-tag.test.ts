import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { entityTagOf, includesTag, includesVersion, parseEntityTags } from './entity-tag.ts';

const USED = ['last_used_at'];

test('a header is *, or a list of tags with empty elements and white space', () => {
  for (const [header, tags] of [
    ['*', '*'],
    [' * ', '*'],
    ['"a"', ['"a"']],
    ['W/"a"', ['W/"a"']],
    ['""', ['""']],
    ['"a,b" ,\t"c"', ['"a,b"', '"c"']],
    [', "a",,"b" ,', ['"a"', '"b"']],
    ['"\u00e9"', ['"\u00e9"']],
  ] as const)
    assert.deepEqual(parseEntityTags(header), tags, header);
});

test('other headers are malformed', () => {
  for (const header of [
    '',
    ' ',
    ',',
    'a',
    '"a',
    'a"',
    'w/"a"',
    '"a" "b"',
    '"a b"',
    '*, "a"',
    '"a", *',
    'W/',
    "'a'",
  ])
    assert.equal(parseEntityTags(header), undefined, header);
});

test('a list of any tags is parsed again', () => {
  const tag = fc.stringMatching(/^(W\/)?"[\x21\x23-\x7e]*"$/);
  fc.assert(
    fc.property(fc.array(tag, { minLength: 1 }), (tags) =>
      assert.deepEqual(parseEntityTags(tags.join(', ')), tags),
    ),
  );
});

test('a header of 16 KiB is parsed in linear time, also when it is malformed', () => {
  for (const part of [' ', ',', '"', '"a" ', '"a",', ' ,', 'W/'])
    for (const end of ['', 'x', '"']) parseEntityTags(part.repeat(16_384 / part.length) + end);
});

test('the tag follows the content, not the order of keys', () => {
  const tag = entityTagOf({ guid: '1', details: { a: 1, b: [1, 2] } });
  assert.match(tag, /^"[\w-]{43}"$/);
  assert.equal(entityTagOf({ details: { b: [1, 2], a: 1 }, guid: '1' }), tag);
  for (const other of [{ b: [2, 1], a: 1 }, { a: 1 }, { a: 1, b: [1, 2], c: 0 }, { a: '1', b: [1, 2] }])
    assert.notEqual(entityTagOf({ guid: '1', details: other }), tag);
});

test('If-None-Match compares weakly, If-Match strongly', () => {
  const tag = entityTagOf({ name: 'A' });
  assert.deepEqual([includesTag([tag], tag), includesVersion([tag], tag)], [true, true]);
  assert.deepEqual([includesTag([`W/${tag}`], tag), includesVersion([`W/${tag}`], tag)], [true, false]);
  assert.deepEqual([includesTag('*', tag), includesVersion('*', tag)], [true, true]);
  assert.deepEqual([includesTag(['"a"'], tag), includesVersion(['"a"', '""'], tag)], [false, false]);
});

test('a field that changes by use changes the tag; If-Match does not compare it', () => {
  const before = entityTagOf({ name: 'A' }, USED);
  const used = entityTagOf({ name: 'A', last_used_at: '2026-11-15T00:00:00.000Z' }, USED);
  const renamed = entityTagOf({ name: 'B' }, USED);
  assert.deepEqual([includesTag([before], used), includesVersion([before], used)], [false, true]);
  assert.deepEqual([includesTag([before], renamed), includesVersion([before], renamed)], [false, false]);
  assert.equal(includesVersion([`W/${before}`], used), false);
});
