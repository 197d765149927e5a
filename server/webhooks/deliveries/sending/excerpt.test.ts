import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { EXCERPT_BYTES, excerptOf } from './excerpt.ts';

test('a body of up to 1,024 bytes is kept whole', () => {
  for (const text of ['', 'ok', '{"a":"é😀"}', 'x'.repeat(EXCERPT_BYTES), '\ufeffwith a mark'])
    assert.equal(excerptOf(Buffer.from(text)), text);
});

test('a long body is cut at 1,024 bytes', () => {
  assert.equal(excerptOf(Buffer.from('x'.repeat(EXCERPT_BYTES + 1))), 'x'.repeat(EXCERPT_BYTES));
});

test('a character cut by the limit is omitted', () => {
  for (const character of ['é', '€', '😀'])
    for (let inside = 1; inside < Buffer.byteLength(character); inside++) {
      const start = 'x'.repeat(EXCERPT_BYTES - inside);
      assert.equal(excerptOf(Buffer.from(`${start}${character} and more`)), start);
    }
});

test('invalid bytes and NUL become U+FFFD', () => {
  assert.equal(excerptOf(Buffer.from([0x61, 0xff, 0x00, 0x62])), 'a\ufffd\ufffdb');
  assert.equal(excerptOf(Buffer.from([0x61, 0xe2, 0x82])), 'a\ufffd');
});

test('any body gives well-formed text without NUL of at most 1,024 bytes', () => {
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 3_000, size: 'max' }),
    fc.string({ unit: 'grapheme', maxLength: 1_500, size: 'max' }).map((text) => Buffer.from(text)),
  );
  fc.assert(
    fc.property(bytes, (body) => {
      const excerpt = excerptOf(Buffer.from(body));
      assert.ok(excerpt.isWellFormed() && !excerpt.includes('\0'));
      assert.ok(Buffer.byteLength(excerpt) <= EXCERPT_BYTES);
      assert.ok(Buffer.from(body).toString().replaceAll('\0', '\ufffd').startsWith(excerpt));
    }),
  );
});
