import assert from 'node:assert/strict';
import { isIPv4, isIPv6 } from 'node:net';
import { test } from 'node:test';
import fc from 'fast-check';
import { ANY_CHARACTER } from '../../../testing/api/any-character.ts';
import { canonicalAddress, formatIpv4, parseIpv4, parseIpv4Range } from './ipv4.ts';

const octet = fc.integer({ min: 0, max: 255 });
const address = fc.tuple(octet, octet, octet, octet).map((octets) => octets.join('.'));
/** Strings of the characters that occur in addresses. */
const addressLike = fc.string({ unit: fc.constantFrom(...'0123456789.:/%abfxF+- '), maxLength: 24 });
/** An address with up to three characters replaced by such strings. */
const nearlyAddress = fc
  .tuple(
    address,
    fc.nat(15),
    fc.nat(3),
    fc.string({ unit: fc.constantFrom(...'0123456789./:;- '), maxLength: 3 }),
  )
  .map(([text, at, removed, added]) => text.slice(0, at) + added + text.slice(at + removed));

const NOT_ADDRESSES = [
  ['nothing', ''],
  ['a leading zero', '1.2.3.04'],
  ['octal', '010.0.0.1'],
  ['double zero', '1.2.3.00'],
  ['hexadecimal', '0x1.2.3.4'],
  ['one number', '16909060'],
  ['three octets', '1.2.3'],
  ['three octets as long as four', '111.222.33'],
  ['five octets', '1.2.3.4.5'],
  ['an octet over 255', '1.2.3.256'],
  ['an octet of many digits', '1.2.3.1000'],
  ['an empty octet', '1..3.4'],
  ['an empty octet among long ones', '11..33.44'],
  ['an empty last octet', '11.22.33.'],
  ['a dot before', '.1.2.3.4'],
  ['a dot after', '1.2.3.4.'],
  ['a space before', ' 1.2.3.4'],
  ['a space after', '1.2.3.4 '],
  ['a line break after', '1.2.3.4\n'],
  ['a NUL after', '1.2.3.4\0'],
  ['a sign', '+1.2.3.4'],
  ['a negative octet', '1.2.3.-4'],
  ['an exponent', '1.2.3.1e1'],
  ['full-width digits', '１.２.３.４'],
  ['Arabic digits', '١.٢.٣.٤'],
  ['an ideographic full stop', '1。2。3。4'],
  ['a port', '1.2.3.4:80'],
  ['a slash after', '1.2.3.4/'],
  ['a prefix', '1.2.3.4/32'],
  ['IPv6', '::1'],
] as const;

for (const [what, text] of NOT_ADDRESSES) {
  test(`an address with ${what} is rejected`, () => assert.equal(parseIpv4(text), undefined));
}

test('an address is an unsigned number', () => {
  assert.equal(parseIpv4('0.0.0.0'), 0);
  assert.equal(parseIpv4('1.2.3.4'), 0x01020304);
  assert.equal(parseIpv4('127.255.255.255'), 0x7fffffff);
  assert.equal(parseIpv4('128.0.0.0'), 0x80000000);
  assert.equal(parseIpv4('255.255.255.255'), 0xffffffff);
});

test('formatting a parsed address returns the same text', () => {
  fc.assert(fc.property(address, (text) => formatIpv4(parseIpv4(text) ?? -1) === text));
});

test('text is an address exactly when Node says so', () => {
  fc.assert(
    fc.property(fc.oneof(nearlyAddress, addressLike, fc.string({ unit: ANY_CHARACTER })), (text) => {
      assert.equal(parseIpv4(text) !== undefined, isIPv4(text));
    }),
    { numRuns: 5_000 },
  );
});

test('a range has its first and last address', () => {
  assert.deepEqual(parseIpv4Range('0.0.0.0/0'), { first: 0, last: 0xffffffff, prefix: 0 });
  assert.deepEqual(parseIpv4Range('128.0.0.0/1'), { first: 0x80000000, last: 0xffffffff, prefix: 1 });
  assert.deepEqual(parseIpv4Range('8.8.8.0/24'), { first: 0x08080800, last: 0x080808ff, prefix: 24 });
  assert.deepEqual(parseIpv4Range('8.8.8.8/32'), { first: 0x08080808, last: 0x08080808, prefix: 32 });
});

test('a single address is a range of one', () => {
  assert.deepEqual(parseIpv4Range('8.8.8.8'), parseIpv4Range('8.8.8.8/32'));
});

for (const prefix of [
  '',
  '33',
  '99',
  '032',
  '00',
  '+8',
  '-1',
  '8 ',
  ' 8',
  '8.0',
  '0x8',
  '1e1',
  '255.0.0.0',
  '8/8',
  '８',
]) {
  test(`a range with the prefix "${prefix}" is rejected`, () => {
    assert.equal(parseIpv4Range(`0.0.0.0/${prefix}`), undefined);
  });
}

test('a range with host bits set is rejected at every prefix', () => {
  for (let prefix = 0; prefix < 32; prefix++) {
    assert.equal(parseIpv4Range(`0.0.0.1/${prefix}`), undefined, `/${prefix}`);
    // Only the highest host bit is set.
    assert.equal(parseIpv4Range(`${formatIpv4(2 ** (31 - prefix))}/${prefix}`), undefined, `/${prefix}`);
    assert.ok(parseIpv4Range(`0.0.0.0/${prefix}`), `/${prefix}`);
  }
});

test('no text makes a parser throw', () => {
  const text = fc.oneof(addressLike, fc.string({ unit: ANY_CHARACTER }), fc.string({ unit: 'grapheme' }));
  fc.assert(
    fc.property(text, (value) => {
      parseIpv4(value);
      parseIpv4Range(value);
      canonicalAddress(value);
    }),
    { numRuns: 5_000 },
  );
});

const CANONICAL = [
  ['IPv4 stays', '1.2.3.4', '1.2.3.4'],
  ['IPv4-mapped becomes IPv4', '::ffff:1.2.3.4', '1.2.3.4'],
  ['IPv4-mapped in hexadecimal becomes IPv4', '::ffff:102:304', '1.2.3.4'],
  ['IPv4-mapped in capitals becomes IPv4', '::FFFF:C0A8:0001', '192.168.0.1'],
  ['IPv4-mapped in full becomes IPv4', '0000:0000:0000:0000:0000:ffff:0102:0304', '1.2.3.4'],
  ['IPv4-mapped in part becomes IPv4', '0::0:ffff:1.2.3.4', '1.2.3.4'],
  ['IPv4-mapped zero becomes IPv4', '::ffff:0:0', '0.0.0.0'],
  ['IPv4-mapped last becomes IPv4', '::ffff:ffff:ffff', '255.255.255.255'],
  ['IPv4-mapped with a zone becomes IPv4', '::ffff:1.2.3.4%eth0', '1.2.3.4'],
  ['IPv4-compatible stays IPv6', '::1.2.3.4', '::102:304'],
  ['one group short of mapped stays IPv6', '::ffff:1', '::ffff:1'],
  ['IPv4-translated stays IPv6', '::ffff:0:1.2.3.4', '::ffff:0:102:304'],
  ['capitals become lower case', '2001:DB8::ABCD', '2001:db8::abcd'],
  ['zeros are compressed', '2001:0db8:0:0:0:0:0:1', '2001:db8::1'],
  ['a zone is dropped', 'fe80::1%eth0', 'fe80::1'],
  ['an octal dotted part is refused', '::ffff:01.2.3.4', undefined],
  ['two compressions are refused', '1::2::3', undefined],
  ['brackets are refused', '[::1]', undefined],
  ['an empty zone is refused', 'fe80::1%', undefined],
  ['a zone on IPv4 is refused', '1.2.3.4%eth0', undefined],
  ['a way out of the brackets is refused', '::1]@[::2', undefined],
  ['a line break is refused', '::1\n', undefined],
  ['a tab inside is refused', ':\t:1', undefined],
  ['a short IPv4 is refused', '127.1', undefined],
  ['a name is refused', 'cafe', undefined],
  ['a very long text is refused', `::1%${'x'.repeat(1_000_000)}`, undefined],
] as const;

for (const [rule, text, expected] of CANONICAL) {
  test(`canonical address: ${rule}`, () => assert.equal(canonicalAddress(text), expected));
}

test('canonical address: any text is IPv6 exactly when the runtime says so', () => {
  const ipv6Like = fc.string({ unit: fc.constantFrom(...'0123456789abcdefF:.', '::', ':'), maxLength: 20 });
  fc.assert(
    fc.property(fc.oneof(fc.ipV6(), ipv6Like), (text) => {
      assert.equal(canonicalAddress(text) !== undefined, isIPv6(text) || isIPv4(text));
    }),
    { numRuns: 10_000 },
  );
});

test('canonical address: canonical text stays as it is', () => {
  fc.assert(
    fc.property(fc.ipV6(), (text) => {
      const canonical = canonicalAddress(text);
      assert.ok(canonical);
      assert.equal(canonicalAddress(canonical), canonical);
    }),
  );
});
