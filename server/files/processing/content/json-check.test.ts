import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createJsonCheck, MAX_DEPTH } from './json-check.ts';

/** Feeds the content in pieces of so many bytes. */
function isJson(content: string | Buffer, pieceBytes = 65_536): boolean {
  const bytes = Buffer.from(content as string);
  const check = createJsonCheck();
  for (let start = 0; start < bytes.length; start += pieceBytes)
    check.write(bytes.subarray(start, start + pieceBytes));
  return check.end();
}

function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const VALID = [
  ...[
    '{}',
    '[]',
    '""',
    '0',
    '-0',
    '10',
    '-1.5e+10',
    '1E5',
    '2e-3',
    '0.0',
    'true',
    'false',
    'null',
    ' \t\r\n1 \n',
  ],
  ...[
    '[1,2]',
    '{"a":1,"b":[{}]}',
    '["\\u00e9\\n\\"\\\\\\/\\b\\f\\r\\t"]',
    '"\\ud800"',
    '"é😀"',
    '[[],{}]',
    '{"":""}',
  ],
];
const INVALID = [
  ...[
    '',
    ' ',
    '{',
    '[',
    '"',
    '{"a"',
    '{"a":',
    '{"a":1',
    '{"a":1,}',
    '[1,]',
    '[,1]',
    '{,}',
    '{1:2}',
    "{'a':1}",
  ],
  ...[
    '01',
    '-',
    '+1',
    '.5',
    '1.',
    '1e',
    '1e+',
    '-a',
    'tru',
    'truee',
    'nul',
    'True',
    'NaN',
    'Infinity',
    'undefined',
  ],
  ...[
    '1 2',
    '{}{}',
    '[]]',
    '[}',
    '{]',
    '{"a":1]',
    '["\t"]',
    '"\\x"',
    '"\\u12g4"',
    '"\\u12',
    '/**/1',
    '\ufeff1',
    ',',
    ':',
  ],
  ...[
    '{"a" 1}',
    '{"a"::1}',
    '[1 2]',
    '{"a":1 "b":2}',
    '{"a",1}',
    '[1:2]',
    '1,',
    '"a":1',
    '0x1',
    '\v1',
    '\u00a01',
    '-01',
  ],
];

test('JSON is accepted and other text refused, in one piece and byte by byte', () => {
  for (const text of VALID) assert.ok(parses(text) && isJson(text) && isJson(text, 1), text);
  for (const text of INVALID)
    assert.ok(!parses(text) && !isJson(text) && !isJson(text, 1), JSON.stringify(text));
});

test('every JSON text is accepted, however it is split', () => {
  fc.assert(
    fc.property(fc.json(), fc.nat(8), (text, pieceBytes) => assert.ok(isJson(text, pieceBytes + 1), text)),
  );
});

test('the result equals that of JSON.parse for JSON-like text', () => {
  const token = fc.constantFrom(
    ...'{}[]:,"\\-+.eE019tfnu \n',
    'true',
    'null',
    '"a"',
    '1.5',
    '\\u00',
    '{"a":',
    '[1,',
  );
  const tokens = fc.array(token, { maxLength: 8 }).map((parts) => parts.join(''));
  fc.assert(
    fc.property(tokens, (text) => assert.equal(isJson(text), parses(text), JSON.stringify(text))),
    { numRuns: 20_000 },
  );
});

test('the result equals that of JSON.parse for JSON with one changed byte', () => {
  fc.assert(
    fc.property(
      fc.json({ maxDepth: 3 }),
      fc.nat(),
      fc.integer({ min: 0x09, max: 0x7e }),
      (text, at, byte) => {
        const bytes = Buffer.from(text);
        bytes[at % bytes.length] = byte;
        // Invalid UTF-8 is not JSON, though a lenient decoder would accept it.
        const changed = bytes.toString();
        if (Buffer.from(changed).equals(bytes)) assert.equal(isJson(bytes), parses(changed), changed);
        else assert.equal(isJson(bytes), false);
      },
    ),
    { numRuns: 5_000 },
  );
});

test('invalid UTF-8 and truncated characters are not JSON', () => {
  for (const bytes of [
    [0xff],
    [0xc3, 0x28],
    [0xed, 0xa0, 0x80],
    [0xc0, 0x80],
    [0xf4, 0x90, 0x80, 0x80],
    [0xc3],
  ])
    assert.equal(isJson(Buffer.from([0x22, ...bytes, 0x22])), false, bytes.join());
  assert.equal(isJson(Buffer.from('"é"'), 2), true);
  assert.equal(isJson(Buffer.from('[1]', 'utf16le')), false);
});

test('nesting is limited, and so is the memory for it', () => {
  const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
  assert.equal(isJson(nested(MAX_DEPTH)), true);
  assert.equal(isJson(nested(MAX_DEPTH + 1)), false);
  assert.equal(isJson(`[${nested(MAX_DEPTH - 1)},${nested(MAX_DEPTH - 1)}]`), true);
});
