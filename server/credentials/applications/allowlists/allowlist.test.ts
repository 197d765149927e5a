import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import ipaddr from 'ipaddr.js';
import { ANY_CHARACTER } from '../../../../testing/api/any-character.ts';
import { cpuMsOf } from '../../../../testing/api/cpu-time.ts';
import { referenceAccepts, referenceBoundaries, referenceRange } from './allowlist.reference.ts';
import {
  type AllowlistProblem,
  compileAllowlist,
  MAX_ALLOWLIST_ENTRIES,
  parseAllowlist,
} from './allowlist.ts';

const octet = fc.integer({ min: 0, max: 255 });
const address = fc.tuple(octet, octet, octet, octet).map((octets) => octets.join('.'));
const bits = fc.string({ unit: fc.constantFrom('0', '1'), minLength: 32, maxLength: 32 });
const prefix = fc.integer({ min: 0, max: 32 });
const entryLike = fc.string({ unit: fc.constantFrom(...'0123456789./:xf+- '), maxLength: 20 });
const anything = fc.oneof(
  entryLike,
  address,
  fc.string({ unit: ANY_CHARACTER }),
  fc.string({ unit: 'grapheme' }),
);

/** Without a minimum prefix, which has tests of its own. */
const parse = (entries: readonly string[]) => parseAllowlist(entries, { minPrefix: 0 });

function accepts(...entries: string[]): boolean {
  return Array.isArray(parse(entries));
}

function problemOf(...entries: string[]): AllowlistProblem {
  const result = parse(entries);
  assert.ok(!Array.isArray(result), `accepted: ${entries}`);
  return result;
}

test('Authentication 10: an entry is a single address or a CIDR range', () => {
  assert.deepEqual(parse(['8.8.8.8', '1.1.1.0/24']), ['8.8.8.8', '1.1.1.0/24']);
});

test('Resources: an empty list is accepted, and means unrestricted', () => {
  assert.deepEqual(parse([]), []);
});

test('the entries are kept as they were written: /32 stays /32', () => {
  assert.deepEqual(parse(['8.8.8.8/32', '9.9.9.9']), ['8.8.8.8/32', '9.9.9.9']);
});

test('Limits: three entries are accepted, a fourth is refused', () => {
  assert.equal(MAX_ALLOWLIST_ENTRIES, 3);
  assert.ok(accepts('1.1.1.1', '2.2.2.2', '3.3.3.3'));
  assert.deepEqual(problemOf('1.1.1.1', '2.2.2.2', '3.3.3.3', '4.4.4.4'), {
    index: 3,
    entry: '4.4.4.4',
    message: 'ip_allowlist[3] "4.4.4.4" is one entry too many; at most 3 are allowed',
  });
});

const NOT_PUBLIC = [
  ['private (RFC 1918)', '10.0.0.0/8', 'is private (RFC 1918)'],
  ['private (RFC 1918)', '172.31.255.255', 'is private (RFC 1918)'],
  ['private (RFC 1918)', '192.168.1.0/24', 'is private (RFC 1918)'],
  ['loopback', '127.0.0.1', 'is loopback (RFC 1122)'],
  ['link-local', '169.254.169.254', 'is link-local (RFC 3927)'],
  ['multicast', '224.0.0.1', 'is multicast (RFC 5771)'],
  ['reserved', '240.0.0.0/4', 'is reserved (RFC 1112)'],
  ['reserved', '0.0.0.0', 'is reserved for "this network" (RFC 791)'],
  ['reserved', '192.88.99.1', 'is reserved, once the 6to4 relay (RFC 7526)'],
  ['reserved', '192.0.0.8', 'is reserved for protocol assignments (RFC 6890)'],
  ['broadcast', '255.255.255.255', 'is limited broadcast (RFC 919)'],
  ['carrier-grade NAT', '100.64.0.0/10', 'is carrier-grade NAT (RFC 6598)'],
  ['documentation (RFC 5737)', '192.0.2.1', 'is documentation (RFC 5737)'],
  ['documentation (RFC 5737)', '198.51.100.0/25', 'is documentation (RFC 5737)'],
  ['documentation (RFC 5737)', '203.0.113.255', 'is documentation (RFC 5737)'],
  ['benchmarking', '198.19.255.255', 'is benchmarking (RFC 2544)'],
  [
    'a range over everything',
    '0.0.0.0/0',
    'overlaps 0.0.0.0/8, which is reserved for "this network" (RFC 791)',
  ],
  ['a range that merely overlaps', '8.0.0.0/5', 'overlaps 10.0.0.0/8, which is private (RFC 1918)'],
  [
    'a range that merely overlaps',
    '203.0.112.0/20',
    'overlaps 203.0.113.0/24, which is documentation (RFC 5737)',
  ],
] as const;

for (const [rule, entry, why] of NOT_PUBLIC) {
  test(`Authentication 10: ${rule} is refused: ${entry}`, () => {
    assert.deepEqual(problemOf('8.8.8.8', entry), {
      index: 1,
      entry,
      message: `ip_allowlist[1] "${entry}" ${why}; every address must be public`,
    });
  });
}

const MALFORMED = [
  ['host bits set in a range', '8.8.8.8/24', 'has host bits set; the network is 8.8.8.0/24'],
  ['host bits set in the widest range', '200.0.0.0/0', 'has host bits set; the network is 0.0.0.0/0'],
  ['a leading zero', '8.8.8.08', 'has an octet with a leading zero (read as octal by some)'],
  ['octal', '0310.8.8.8', 'has an octet with a leading zero (read as octal by some)'],
  ['hexadecimal', '0x8.8.8.8', 'has a hexadecimal octet'],
  ['hexadecimal in one piece', '0x08080808', 'has a hexadecimal octet'],
  ['fewer than four octets', '8.8.8', 'has fewer than four octets'],
  ['fewer than four octets in a range', '8/8', 'has fewer than four octets'],
  ['one decimal number', '134744072', 'has fewer than four octets'],
  ['more than four octets', '8.8.8.8.8', 'has more than four octets'],
  ['an empty octet', '8..8.8', 'has an empty octet'],
  ['an octet over 255', '8.8.8.256', 'has an octet over 255'],
  ['a prefix over 32', '8.8.8.8/33', 'has a prefix length over 32'],
  ['a prefix far over 32', '8.8.8.8/4294967328', 'has a prefix length over 32'],
  ['no prefix after the slash', '8.8.8.8/', 'has no prefix length after the slash'],
  ['a prefix with a leading zero', '8.0.0.0/08', 'has a prefix length with a leading zero'],
  ['a prefix with a sign', '8.8.8.0/+24', 'has a prefix length that is not a plain decimal number'],
  ['a netmask', '8.8.8.0/255.255.255.0', 'has a prefix length that is not a plain decimal number'],
  ['two prefixes', '8.8.8.0/24/24', 'has more than one prefix length'],
  ['IPv6', '2001:4860:4860::8888', 'is IPv6; only IPv4 is accepted'],
  ['an IPv6 range', '2001:db8::/32', 'is IPv6; only IPv4 is accepted'],
  ['IPv4-mapped IPv6', '::ffff:8.8.8.8', 'is IPv4-mapped IPv6; write the IPv4 address itself'],
  ['IPv4-mapped IPv6 in hexadecimal', '::FFFF:808:808', 'is IPv4-mapped IPv6; write the IPv4 address itself'],
  ['an IPv4-mapped range', '::ffff:8.8.8.0/120', 'is IPv4-mapped IPv6; write the IPv4 address itself'],
  ['an empty string', '', 'is empty'],
  ['a space before', ' 8.8.8.8', 'contains whitespace'],
  ['a space around the slash', '8.8.8.0 /24', 'contains whitespace'],
  ['a space only', ' ', 'contains whitespace'],
  ['a port', '8.8.8.8:80', 'has a port'],
  ['a name', 'example.com', 'is not an IPv4 address or CIDR range'],
  ['a wildcard', '8.8.8.*', 'is not an IPv4 address or CIDR range'],
  ['a span', '8.8.8.1-8.8.8.9', 'is not an IPv4 address or CIDR range'],
] as const;

for (const [rule, entry, why] of MALFORMED) {
  test(`contract 6: ${rule} is refused: "${entry}"`, () => {
    assert.deepEqual(problemOf(entry), { index: 0, entry, message: `ip_allowlist[0] "${entry}" ${why}` });
  });
}

test('contract 6: a duplicate network is refused', () => {
  assert.deepEqual(problemOf('9.9.9.9', '1.2.3.4', '1.2.3.4/32'), {
    index: 2,
    entry: '1.2.3.4/32',
    message: 'ip_allowlist[2] "1.2.3.4/32" is the same network as ip_allowlist[1]',
  });
  assert.ok(!accepts('1.2.3.0/24', '1.2.3.0/24'));
});

test('overlapping and adjacent ranges are not duplicates', () => {
  assert.ok(accepts('1.2.3.0/24', '1.2.3.0/25', '1.2.3.0'));
  assert.ok(accepts('1.2.3.0/24', '1.2.3.128/25', '1.2.3.255'));
});

test('a quoted entry has no control characters, lookalikes or lone surrogates', () => {
  assert.equal(problemOf('8.8.8.8\r\nforged').entry, '8.8.8.8\\u000d\\u000aforged');
  assert.equal(problemOf('\u001b[31m\u0000\u009b').entry, '\\u001b[31m\\u0000\\u009b');
  assert.equal(problemOf('\u202e8.8.8.8').entry, '\\u202e8.8.8.8');
  assert.equal(problemOf('８.8.8.8').entry, '\\uff18.8.8.8');
  assert.equal(problemOf('\ud800').entry, '\\ud800');
  assert.equal(problemOf('"\\').entry, '\\"\\\\');
});

test('a quoted entry has at most 64 printable characters', () => {
  assert.equal(problemOf('x'.repeat(65)).entry, `${'x'.repeat(63)}…`);
  fc.assert(
    fc.property(fc.string({ unit: ANY_CHARACTER, minLength: 1, maxLength: 200 }), (text) => {
      const { entry, message } = problemOf('8.8.8.8', '9.9.9.9', '1.1.1.1', text);
      assert.match(entry, /^[ -~]{1,64}$|^[ -~]{1,63}…$/);
      assert.ok(message.includes(`ip_allowlist[3] "${entry}"`));
    }),
  );
});

test('an entry of ten million characters is refused without being parsed', () => {
  for (const text of ['1', '.', ' ', ':', '/', '1.', '\0', '😀'].map((unit) => unit.repeat(10_000_000))) {
    // V8 flattens a repeated string on first read, which is not the parser's time.
    text.charCodeAt(0);
    const cpuMs = cpuMsOf(() => {
      assert.ok(problemOf(text).message.includes('is too long'));
      assert.equal(compileAllowlist([text])(text), false);
    });
    assert.ok(cpuMs < 1_000, `${cpuMs} ms`);
  }
});

test('contract 6: a range wider than the minimum prefix is refused, a narrower one is not', () => {
  for (const minPrefix of [0, 1, 8, 15, 16, 17, 24, 31, 32])
    for (let length = 0; length <= 32; length++) {
      const range = referenceRange('11000110001000110001101001100000', length);
      if (!referenceAccepts(range)) continue;
      const result = parseAllowlist(['9.9.9.9', range], { minPrefix });
      if (length >= minPrefix) assert.deepEqual(result, ['9.9.9.9', range]);
      else
        assert.deepEqual(result, {
          index: 1,
          entry: range,
          message: `ip_allowlist[1] "${range}" is wider than /${minPrefix}, the widest range that is accepted`,
        });
    }
});

test('any list of strings is accepted or refused with a message', () => {
  fc.assert(
    fc.property(fc.array(anything, { maxLength: 5 }), (entries) => {
      const result = parse(entries);
      if (Array.isArray(result)) assert.deepEqual(result, entries);
      else assert.match(result.message, /^ip_allowlist\[\d\] ".*" (is|has|contains|overlaps) /s);
      compileAllowlist(entries)(entries[0]);
    }),
    { numRuns: 5_000 },
  );
});

test('the reference agrees at every boundary of every special range, at every prefix', () => {
  let compared = 0;
  for (const boundary of referenceBoundaries()) {
    for (let length = 0; length <= 32; length++) {
      const range = referenceRange(boundary, length);
      assert.equal(accepts(range), referenceAccepts(range), range);
      compared++;
    }
  }
  assert.ok(compared > 1_500);
});

test('the reference agrees on every /8 to /16 and on random ranges to /32', () => {
  for (let length = 8; length <= 16; length++) {
    for (let network = 0; network < 2 ** length; network++) {
      const range = referenceRange(network.toString(2).padStart(length, '0'), length);
      if (accepts(range) !== referenceAccepts(range)) assert.fail(range);
    }
  }
  fc.assert(
    fc.property(bits, prefix, (random, length) => {
      const range = referenceRange(random, length);
      assert.equal(accepts(range), referenceAccepts(range), range);
    }),
    { numRuns: 10_000 },
  );
});

test('the reference agrees on well-formed and nearly well-formed text', () => {
  const withPrefix = fc.tuple(address, fc.integer({ min: 0, max: 40 })).map((parts) => parts.join('/'));
  fc.assert(
    fc.property(fc.oneof(withPrefix, anything), (text) => {
      assert.equal(accepts(text), referenceAccepts(text), text);
    }),
    { numRuns: 20_000 },
  );
});

test('the classes of ipaddr.js agree on single addresses at every boundary', () => {
  // AS112 and AMT are special-purpose but globally reachable (RFC 7534, RFC 7450): public.
  const publicClasses = ['unicast', 'as112', 'amt'];
  for (const boundary of referenceBoundaries()) {
    const single = referenceRange(boundary, 32).slice(0, -'/32'.length);
    assert.equal(accepts(single), publicClasses.includes(ipaddr.IPv4.parse(single).range()), single);
  }
});
