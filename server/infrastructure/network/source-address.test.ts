import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { ANY_CHARACTER } from '../../../testing/api/any-character.ts';
import { cpuMsOf } from '../../../testing/api/cpu-time.ts';
import { createSourceAddress, isCidrOrAddress } from './source-address.ts';

const PROXY = '10.0.0.1';
const CLIENT = '8.8.8.8';
/** Far above the expected time on a slow machine, and far below that of quadratic work. */
const MAX_CPU_MS = 1_000;
const sourceBehindProxies = createSourceAddress(['10.0.0.0/8', '192.0.2.7', 'fd00::/8', '2001:db8::7']);

/** The source address for a header of a trusted proxy. */
function forwarded(header: string | string[] | undefined): string | undefined {
  return sourceBehindProxies(PROXY, header);
}

test('without trusted proxies the source is the socket, whatever the header contains', () => {
  const source = createSourceAddress([]);
  assert.equal(source(CLIENT, undefined), CLIENT);
  assert.equal(source(PROXY, '1.1.1.1'), PROXY);
  assert.equal(source('127.0.0.1', ['1.1.1.1']), '127.0.0.1');
});

test('X-Forwarded-For from an untrusted peer is ignored', () => {
  for (const header of ['1.1.1.1', '10.0.0.2', 'garbage', '', ',,,', ['1.1.1.1', '10.0.0.2']]) {
    assert.equal(sourceBehindProxies(CLIENT, header), CLIENT);
    assert.equal(sourceBehindProxies('2001:db8::8', header), '2001:db8::8');
  }
});

test('a socket without a valid address has no source', () => {
  for (const socket of [undefined, '', 'garbage', '/run/portico.sock', '10.0.0.1:80', '8.8.8.8 ']) {
    assert.equal(sourceBehindProxies(socket, CLIENT), undefined);
    assert.equal(createSourceAddress([])(socket, CLIENT), undefined);
  }
});

const FORWARDED = [
  ['without the header the trusted peer itself is the source', undefined, PROXY],
  ['no header lines are no header', [], PROXY],
  ['an empty header is no header', '', PROXY],
  ['an empty line is no header', [''], PROXY],
  ['a blank header is no header', ' \t ', PROXY],
  ['one hop is the source', CLIENT, CLIENT],
  ['the right-most untrusted hop is the source', `1.1.1.1, ${CLIENT}, 10.0.0.2, 10.9.9.9`, CLIENT],
  ['a hop left of the source is not trusted', `10.0.0.3, 1.1.1.1, ${CLIENT}`, CLIENT],
  ['invalid text left of the source is ignored', `<script>, ${CLIENT}, 10.0.0.2`, CLIENT],
  ['with all hops trusted the left-most is the source', '10.1.1.1, 10.2.2.2, 192.0.2.7', '10.1.1.1'],
  ['a single address is trusted alone', '1.1.1.1, 192.0.2.8', '192.0.2.8'],
  ['white space around hops is optional', `1.1.1.1 ,\t${CLIENT}\t ,  10.0.0.2 `, CLIENT],
  ['no white space is needed', `1.1.1.1,${CLIENT},10.0.0.2`, CLIENT],
  ['header lines are joined in order', ['1.1.1.1', `2.2.2.2, ${CLIENT}`, '10.0.0.2'], CLIENT],
  ['an empty line among others is an empty hop', ['1.1.1.1', '', '10.0.0.2'], undefined],
  ['invalid text as the last hop is no address', `${CLIENT}, garbage`, undefined],
  ['invalid text behind a trusted hop is no address', `${CLIENT}, garbage, 10.0.0.2`, undefined],
  ['"unknown" is no address', 'unknown', undefined],
  ['an empty last hop is no address', `${CLIENT},`, undefined],
  ['an empty first hop is no address', ',10.0.0.2', undefined],
  ['an empty hop in between is no address', `${CLIENT},,10.0.0.2`, undefined],
  ['a single comma is no address', ',', undefined],
  ['only commas are no address', ',,,,', undefined],
  ['commas and blanks are no address', ' , ,\t', undefined],
  ['a port is dropped from IPv4', `${CLIENT}:567`, CLIENT],
  ['a port is dropped from a trusted hop', `${CLIENT}, 10.0.0.2:443`, CLIENT],
  ['a port is dropped from bracketed IPv6', '[2001:db8::1]:567', '2001:db8::1'],
  ['brackets need no port', '[2001:db8::1]', '2001:db8::1'],
  ['a bracketed trusted hop is trusted', `${CLIENT}, [fd00::1]:443`, CLIENT],
  ['bare IPv6 is read completely, its last group is not a port', '2001:db8::1:567', '2001:db8::1:567'],
  ['an empty port is no address', `${CLIENT}:`, undefined],
  ['a port over 65535 is no address', `${CLIENT}:65536`, undefined],
  ['a port of many digits is no address', `${CLIENT}:000080`, undefined],
  ['a named port is no address', `${CLIENT}:http`, undefined],
  ['two ports are no address', `${CLIENT}:80:80`, undefined],
  ['IPv4 in brackets is no address', `[${CLIENT}]`, undefined],
  ['an unclosed bracket is no address', '[2001:db8::1', undefined],
  ['text after the bracket is no address', '[2001:db8::1]x', undefined],
  ['nested brackets are no address', '[[2001:db8::1]]', undefined],
  ['a quoted hop is no address', `"${CLIENT}"`, undefined],
  ['a pair of RFC 7239 is no address', `for=${CLIENT}`, undefined],
  ['two addresses without a comma are no address', `1.1.1.1 ${CLIENT}`, undefined],
  ['a range is no address', '8.8.8.0/24', undefined],
  ['octal is no address', '010.8.8.8', undefined],
  ['a short form is no address', '127.1', undefined],
  ['full-width digits are no address', '８.８.８.８', undefined],
  ['a no-break space is not white space', `\u00a0${CLIENT}`, undefined],
  ['a full-width comma does not separate', `1.1.1.1，${CLIENT}`, undefined],
  ['a NUL is not white space', `${CLIENT}\0`, undefined],
  ['a line break is not white space', `${CLIENT}\n`, undefined],
  ['an IPv4-mapped hop is its IPv4', '1.1.1.1, ::ffff:8.8.8.8', CLIENT],
  ['an IPv4-mapped hop in hexadecimal is its IPv4', '[::FFFF:808:808]:80', CLIENT],
  ['an IPv4-mapped trusted hop is trusted', `${CLIENT}, ::ffff:10.0.0.2, ::ffff:a00:3`, CLIENT],
  ['IPv6 is lower case and compressed', '2001:0DB8:0:0::00AB', '2001:db8::ab'],
  ['a zone is dropped', 'fe80::1%eth0', 'fe80::1'],
  ['a zone does not hide a trusted hop', `${CLIENT}, fd00::1%eth0`, CLIENT],
  ['IPv6 is trusted in any spelling', `${CLIENT}, 2001:0DB8:0::7`, CLIENT],
] as const;

for (const [rule, header, expected] of FORWARDED) {
  test(`X-Forwarded-For: ${rule}`, () => {
    assert.equal(forwarded(typeof header === 'object' ? [...header] : header), expected);
  });
}

test('an IPv4-mapped socket is its IPv4, trusted or not', () => {
  assert.equal(sourceBehindProxies('::ffff:8.8.8.8', '1.1.1.1'), CLIENT);
  assert.equal(sourceBehindProxies('::ffff:10.0.0.1', CLIENT), CLIENT);
  assert.equal(sourceBehindProxies('::ffff:a00:1', CLIENT), CLIENT);
});

test('an IPv6 socket may be a trusted proxy, with or without a zone', () => {
  assert.equal(sourceBehindProxies('fd00::1%eth0', CLIENT), CLIENT);
  assert.equal(sourceBehindProxies('fe80::1%eth0', CLIENT), 'fe80::1');
});

test('an IPv4-mapped trusted range is its IPv4 range, and no more', () => {
  const source = createSourceAddress(['::ffff:10.0.0.0/104', '::ffff:192.0.2.7']);
  assert.equal(source('10.255.255.255', CLIENT), CLIENT);
  assert.equal(source('::ffff:10.0.0.1', CLIENT), CLIENT);
  assert.equal(source('192.0.2.7', CLIENT), CLIENT);
  assert.equal(source('11.0.0.0', CLIENT), '11.0.0.0');
  assert.equal(source('192.0.2.8', CLIENT), '192.0.2.8');
});

test('trusting every IPv6 peer trusts no IPv4 peer, and the other way round', () => {
  const everyIpv6 = createSourceAddress(['::/0']);
  assert.equal(everyIpv6('2001:db8::1', CLIENT), CLIENT);
  assert.equal(everyIpv6(PROXY, CLIENT), PROXY);
  assert.equal(everyIpv6('::ffff:10.0.0.1', CLIENT), PROXY);
  const everyIpv4 = createSourceAddress(['0.0.0.0/0']);
  assert.equal(everyIpv4(PROXY, '1.1.1.1, 2.2.2.2'), '1.1.1.1');
  assert.equal(everyIpv4('2001:db8::1', CLIENT), '2001:db8::1');
});

test('32 trusted hops are followed, a 33rd hop is no address', () => {
  const hops = (count: number) => Array.from({ length: count }, () => '10.0.0.2');
  assert.equal(forwarded([CLIENT, ...hops(31)].join()), CLIENT);
  assert.equal(forwarded(hops(32).join()), '10.0.0.2');
  assert.equal(forwarded([CLIENT, ...hops(32)].join()), undefined);
  assert.equal(forwarded([CLIENT, ...hops(31)]), CLIENT);
  assert.equal(forwarded(hops(32)), '10.0.0.2');
  assert.equal(forwarded([CLIENT, ...hops(32)]), undefined);
  assert.equal(forwarded(hops(10_000)), undefined);
});

/** Splitting a million hops 200 times takes many seconds; iterating from the right takes a few milliseconds. */
test('a header of 10,000 hops, or a million, costs no more than the hops examined', () => {
  const headers = ['1.1.1.1,'.repeat(10_000) + CLIENT, '1.1.1.1,'.repeat(1_000_000) + CLIENT];
  for (const header of headers) {
    const trustedTail = `${header},10.0.0.2`;
    assert.equal(forwarded(trustedTail), CLIENT);
    const cpuMs = cpuMsOf(() => {
      for (let call = 0; call < 200; call++) forwarded(trustedTail);
    });
    assert.ok(cpuMs < MAX_CPU_MS, `${cpuMs} ms`);
  }
  assert.equal(forwarded('10.0.0.2,'.repeat(1_000_000) + CLIENT), CLIENT);
  assert.equal(forwarded(`${CLIENT}${',10.0.0.2'.repeat(1_000_000)}`), undefined);
});

test('a very long hop is rejected quickly', () => {
  for (const unit of ['1', '.', ':', '[', '%', ' ', ',', '8.8.8.8 ', '\u{1f600}']) {
    for (const opening of ['x', '[']) {
      const header = `${CLIENT},${opening}${unit.repeat(1_000_000)}x`;
      const cpuMs = cpuMsOf(() => assert.equal(forwarded(header), undefined));
      assert.ok(cpuMs < MAX_CPU_MS, `${unit}: ${cpuMs} ms`);
    }
  }
  assert.equal(forwarded(`${CLIENT},${' '.repeat(1_000_000)}10.0.0.2`), CLIENT);
});

test('a reference implementation with split agrees on any chain of hops', () => {
  const hop = fc.constantFrom(
    '10.0.0.2',
    '10.3.3.3:80',
    '[fd00::1]',
    CLIENT,
    '1.1.1.1',
    '2001:db8::8',
    'garbage',
    '',
  );
  const meaning: Record<string, string> = { '10.3.3.3:80': '10.3.3.3', '[fd00::1]': 'fd00::1' };
  const trusted = ['10.0.0.2', '10.3.3.3', 'fd00::1'];
  fc.assert(
    fc.property(fc.array(hop, { minLength: 1, maxLength: 12 }), fc.boolean(), (chain, asLines) => {
      const addresses = chain.map((text) => meaning[text] ?? text);
      const stop = addresses.findLast((text) => !trusted.includes(text)) ?? addresses[0];
      const expected = stop === 'garbage' || stop === '' ? undefined : stop;
      const blank = chain.length === 1 && chain[0] === '';
      assert.equal(forwarded(asLines ? chain : chain.join(', ')), blank ? PROXY : expected);
    }),
    { numRuns: 5_000 },
  );
});

test('no header and no socket text makes it throw', () => {
  const text = fc.oneof(
    fc.string({ unit: ANY_CHARACTER }),
    fc.string({ unit: fc.constantFrom(...'0123456789abf.:,[]% '), maxLength: 60 }),
  );
  fc.assert(
    fc.property(text, fc.oneof(text, fc.array(text)), (socket, header) => {
      sourceBehindProxies(socket, header);
      forwarded(header);
      isCidrOrAddress(socket);
    }),
    { numRuns: 5_000 },
  );
});

test('PORTICO_TRUSTED_PROXIES: addresses and ranges of both families are accepted', () => {
  for (const text of [
    '10.0.0.1',
    '10.0.0.0/8',
    '0.0.0.0/0',
    '10.0.0.1/32',
    '::1',
    '::1/128',
    'fd00::/8',
    '::/0',
  ])
    assert.ok(isCidrOrAddress(text), text);
  for (const text of ['FD00:0::/8', '2001:db8::/32', '::ffff:10.0.0.0/104', '::ffff:0:0/96'])
    assert.ok(isCidrOrAddress(text), text);
});

test('PORTICO_TRUSTED_PROXIES: anything else is refused', () => {
  for (const text of [
    '',
    ' ',
    'localhost',
    '10.0.0.1/8',
    '10.0.0.0/33',
    '10.0.0.0/08',
    '10.0/8',
    '10.0.0.0/8 ',
  ])
    assert.ok(!isCidrOrAddress(text), text);
  for (const text of ['fd00::1/8', '::/129', '::/', '::/08', '::/-1', 'fe80::1%eth0', '[::1]', '::1/128/128'])
    assert.ok(!isCidrOrAddress(text), text);
  for (const text of [
    '::ffff:10.0.0.0/8',
    '::ffff:10.0.0.1/104',
    '::ffff:0:0/95',
    '10.0.0.1:80',
    '10.0.0.0/255.0.0.0',
  ])
    assert.ok(!isCidrOrAddress(text), text);
});

test('an invalid trusted proxy prevents the start', () => {
  assert.throws(() => createSourceAddress(['10.0.0.0/8', 'localhost']), /localhost/);
});

test('a kept address does not keep its header in memory', () => {
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as () => void;
  setFlagsFromString('--no-expose-gc');
  const chain = '1.1.1.1, '.repeat(1_700);
  const kept: (string | undefined)[] = [];
  collectGarbage();
  const before = process.memoryUsage().heapUsed;
  for (let n = 0; n < 2_000; n++) kept.push(forwarded(Buffer.from(`${chain}198.51.100.123`).toString()));
  collectGarbage();
  const keptBytes = process.memoryUsage().heapUsed - before;
  assert.equal(kept[0], '198.51.100.123');
  assert.ok(keptBytes < (2_000 * chain.length) / 4, `${keptBytes} bytes`);
});
