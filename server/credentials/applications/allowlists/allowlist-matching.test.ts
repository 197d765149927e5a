import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { referenceRange } from './allowlist.reference.ts';
import { compileAllowlist } from './allowlist.ts';

const bits = fc.string({ unit: fc.constantFrom('0', '1'), minLength: 32, maxLength: 32 });
const prefix = fc.integer({ min: 0, max: 32 });

test('an empty list allows every address, even a missing one', () => {
  const allows = compileAllowlist([]);
  for (const source of ['8.8.8.8', '::1', 'garbage', undefined]) assert.equal(allows(source), true);
});

test('with a list, no address, IPv6 and garbage are denied', () => {
  const allows = compileAllowlist(['8.8.8.8']);
  for (const source of [
    undefined,
    '',
    '2001:4860::8888',
    '::8.8.8.8',
    '::ffff:0:8.8.8.8',
    'garbage',
    '8.8.8.8 ',
    '8.8.8.08',
  ])
    assert.equal(allows(source), false, `${source}`);
});

test('an address in any entry is allowed, its neighbours are not', () => {
  const allows = compileAllowlist(['8.8.8.8', '1.1.1.0/24', '200.0.0.0/31']);
  for (const source of ['8.8.8.8', '1.1.1.0', '1.1.1.255', '200.0.0.0', '200.0.0.1'])
    assert.equal(allows(source), true, source);
  for (const source of ['8.8.8.7', '8.8.8.9', '1.1.0.255', '1.1.2.0', '199.255.255.255', '200.0.0.2'])
    assert.equal(allows(source), false, source);
});

test('an IPv4-mapped IPv6 address counts as its IPv4 address', () => {
  const allows = compileAllowlist(['1.2.3.4']);
  for (const source of ['::ffff:1.2.3.4', '::ffff:102:304', '::FFFF:0102:0304', '0:0:0:0:0:ffff:102:304'])
    assert.equal(allows(source), true, source);
  for (const source of ['::ffff:1.2.3.5', '::ffff:102:305', '::102:304', '1::ffff:102:304'])
    assert.equal(allows(source), false, source);
});

test('an unreadable entry matches nothing', () => {
  assert.equal(compileAllowlist(['garbage'])('8.8.8.8'), false);
  assert.equal(compileAllowlist(['garbage'])('garbage'), false);
  assert.equal(compileAllowlist([''])(''), false);
  assert.equal(compileAllowlist(['garbage', '8.8.8.8'])('8.8.8.8'), true);
});

test('the reference agrees on addresses in, at the edge of and outside random ranges', () => {
  fc.assert(
    fc.property(bits, prefix, bits, (random, length, other) => {
      const entry = referenceRange(random, length);
      const leading = random.slice(0, length);
      const allows = compileAllowlist(['9.9.9.9', entry]);
      for (const tail of [other.slice(length), '0'.repeat(32 - length), '1'.repeat(32 - length)]) {
        assert.equal(allows(referenceRange(leading + tail, 32).slice(0, -3)), true);
      }
      const elsewhere = referenceRange(other, 32).slice(0, -3);
      assert.equal(allows(elsewhere), other.startsWith(leading) || elsewhere === '9.9.9.9');
    }),
    { numRuns: 5_000 },
  );
});
