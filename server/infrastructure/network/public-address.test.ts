import assert from 'node:assert/strict';
import { BlockList } from 'node:net';
import { test } from 'node:test';
import fc from 'fast-check';
import { ANY_CHARACTER } from '../../../testing/api/any-character.ts';
import { formatIpv4, parseIpv4 } from './ipv4.ts';
import { isPublicAddress } from './public-address.ts';
import { findSpecialRange } from './special-ranges.ts';

function assertPublic(expected: boolean, addresses: readonly string[]): void {
  for (const address of addresses) assert.equal(isPublicAddress(address), expected, address);
}

test('IPv4: public addresses are public, special ones are not', () => {
  assertPublic(true, ['1.1.1.1', '8.8.8.8', '93.184.215.14', '172.15.255.255', '172.32.0.0']);
  assertPublic(false, [
    '127.0.0.1',
    '10.0.0.1',
    '172.16.0.1',
    '192.168.1.1',
    '169.254.169.254',
    '100.64.0.1',
  ]);
  assertPublic(false, ['0.0.0.0', '192.0.2.1', '198.18.0.1', '224.0.0.1', '240.0.0.1', '255.255.255.255']);
});

test('IPv6: global unicast is public', () => {
  assertPublic(true, [
    '2606:4700:4700::1111',
    '2A00:1450:4001:800::200e',
    '2001:200::1',
    '2001:4860:4860::8888',
  ]);
  assertPublic(true, ['2000::1', '2003::1', '3ffe:ffff::1', '3fff:1000::', '2001:db7:ffff::', '2001:db9::']);
});

test('IPv6: loopback, unspecified, link-local, site-local, unique local and multicast are not public', () => {
  assertPublic(false, [
    '::1',
    '::',
    '0:0:0:0:0:0:0:1',
    'fe80::1',
    'febf::1',
    'fec0::1',
    'fc00::1',
    'fdff::1',
    'ff02::1',
  ]);
});

test('IPv6: documentation, discard, benchmarking, ORCHID and segment routing are not public', () => {
  assertPublic(false, ['2001:db8::1', '2001:db8:ffff::1', '3fff::1', '3fff:fff::1', '100::1', '2001:2::1']);
  assertPublic(false, ['2001:10::1', '2001:20::1', '2001:1ff:ffff::1', '5f00::1', '4000::1', '1fff::1']);
});

test('IPv6 that embeds IPv4: 6to4, Teredo, IPv4-compatible and local NAT64 are always rejected', () => {
  assertPublic(false, [
    '2002:808:808::1',
    '2002:a00:1::1',
    '2001::1',
    '2001:0:4136:e378:8000:63bf:3fff:fdd2',
  ]);
  assertPublic(false, [
    '::8.8.8.8',
    '::10.0.0.1',
    '64:ff9b:1::808:808',
    '64:ff9b:1:ffff::a00:1',
    '::ffff:0:8.8.8.8',
  ]);
});

test('IPv6 that embeds IPv4: mapped and NAT64 are judged by the embedded address', () => {
  assertPublic(true, ['::ffff:8.8.8.8', '::ffff:808:808', '64:ff9b::8.8.8.8', '64:ff9b::808:808']);
  assertPublic(false, [
    '::ffff:10.0.0.1',
    '::ffff:a00:1',
    '::ffff:7f00:1',
    '::ffff:169.254.169.254',
    '::FFFF:a9fe:a9fe',
  ]);
  assertPublic(false, ['64:ff9b::a00:1', '64:ff9b::10.0.0.1', '64:ff9b::7f00:1', '64:ff9b::169.254.169.254']);
});

test('an address with a zone, or text that is not an address, is not public', () => {
  assertPublic(false, ['fe80::1%eth0', '2606:4700::1%eth0', '2606:4700::1%0', '::ffff:8.8.8.8%1']);
  assertPublic(false, [
    '',
    ' ',
    'example.com',
    '8.8.8',
    '8.8.8.8 ',
    '08.8.8.8',
    '0x8.8.8.8',
    '134744072',
    '[2606:4700::1]',
  ]);
  assertPublic(false, ['8.8.8.8:80', '2606:4700::1::1', '2606:4700::/32', '8.8.8.8\0', '2606:4700::g']);
});

test('any IPv4 address is public exactly when it is in no special range, mapped or not', () => {
  fc.assert(
    fc.property(fc.ipV4(), (address) => {
      const number = parseIpv4(address) ?? Number.NaN;
      const expected = findSpecialRange(number, number) === undefined;
      assertPublic(expected, [address, `::ffff:${address}`, `64:ff9b::${address}`, formatIpv4(number)]);
    }),
  );
});

test('any IPv6 address: Node reads the same blocks in the same way', () => {
  const within = new BlockList();
  within.addSubnet('2000::', 3, 'ipv6');
  const except = new BlockList();
  for (const [base, prefix] of [
    ['2001::', 23],
    ['2001:db8::', 32],
    ['2002::', 16],
    ['3fff::', 20],
  ] as const)
    except.addSubnet(base, prefix, 'ipv6');
  const group = fc.oneof(
    fc.constantFrom(0x2001, 0x2002, 0x3fff, 0xdb8, 0x1ff, 0x200, 0),
    fc.integer({ min: 0, max: 0xffff }),
  );
  fc.assert(
    fc.property(fc.array(group, { minLength: 8, maxLength: 8 }), ([first = 0, ...rest]) => {
      // The embedding blocks begin with 0 or 64 and are tested separately.
      fc.pre(first > 0xff);
      const address = [first, ...rest].map((number) => number.toString(16)).join(':');
      const expected = within.check(address, 'ipv6') && !except.check(address, 'ipv6');
      assert.equal(isPublicAddress(address), expected, address);
    }),
    { numRuns: 2_000 },
  );
});

test('no text makes it throw', () => {
  const text = fc.oneof(
    fc.string({ unit: ANY_CHARACTER }),
    fc.string({ unit: fc.constantFrom(...'0123456789abf.:%[]/ ') }),
  );
  fc.assert(
    fc.property(text, (address) => typeof isPublicAddress(address) === 'boolean'),
    { numRuns: 2_000 },
  );
});
