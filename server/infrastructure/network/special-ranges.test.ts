import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatIpv4, parseIpv4 } from './ipv4.ts';
import { findSpecialRange } from './special-ranges.ts';

/** Repeated here with first and last addresses, so that an error in either place shows. */
const SPECIAL = [
  ['0.0.0.0/8', '0.0.0.0', '0.255.255.255', 'reserved for "this network" (RFC 791)'],
  ['10.0.0.0/8', '10.0.0.0', '10.255.255.255', 'private (RFC 1918)'],
  ['100.64.0.0/10', '100.64.0.0', '100.127.255.255', 'carrier-grade NAT (RFC 6598)'],
  ['127.0.0.0/8', '127.0.0.0', '127.255.255.255', 'loopback (RFC 1122)'],
  ['169.254.0.0/16', '169.254.0.0', '169.254.255.255', 'link-local (RFC 3927)'],
  ['172.16.0.0/12', '172.16.0.0', '172.31.255.255', 'private (RFC 1918)'],
  ['192.0.0.0/24', '192.0.0.0', '192.0.0.255', 'reserved for protocol assignments (RFC 6890)'],
  ['192.0.2.0/24', '192.0.2.0', '192.0.2.255', 'documentation (RFC 5737)'],
  ['192.88.99.0/24', '192.88.99.0', '192.88.99.255', 'reserved, once the 6to4 relay (RFC 7526)'],
  ['192.168.0.0/16', '192.168.0.0', '192.168.255.255', 'private (RFC 1918)'],
  ['198.18.0.0/15', '198.18.0.0', '198.19.255.255', 'benchmarking (RFC 2544)'],
  ['198.51.100.0/24', '198.51.100.0', '198.51.100.255', 'documentation (RFC 5737)'],
  ['203.0.113.0/24', '203.0.113.0', '203.0.113.255', 'documentation (RFC 5737)'],
  ['224.0.0.0/4', '224.0.0.0', '239.255.255.255', 'multicast (RFC 5771)'],
  ['240.0.0.0/4', '240.0.0.0', '255.255.255.255', 'reserved (RFC 1112)'],
  ['255.255.255.255/32', '255.255.255.255', '255.255.255.255', 'limited broadcast (RFC 919)'],
] as const;

const LAST_ADDRESS = 0xffffffff;

function numeric(address: string): number {
  const value = parseIpv4(address);
  assert.ok(value !== undefined);
  return value;
}

function isListed(address: number): boolean {
  return SPECIAL.some(([, first, last]) => numeric(first) <= address && address <= numeric(last));
}

for (const [cidr, firstAddress, lastAddress, name] of SPECIAL) {
  const first = numeric(firstAddress);
  const last = numeric(lastAddress);

  test(`${cidr} alone is ${name}`, () => {
    assert.deepEqual(findSpecialRange(first, last), { cidr, name, first, last });
  });

  test(`the first and last address of ${cidr} are special`, () => {
    assert.equal(findSpecialRange(first, first)?.cidr, cidr);
    // The very last address has a narrower range of its own.
    assert.equal(findSpecialRange(last, last)?.cidr, last === LAST_ADDRESS ? '255.255.255.255/32' : cidr);
  });

  test(`the neighbours of ${cidr} are special only where another range begins`, () => {
    for (const neighbour of [first - 1, last + 1]) {
      if (neighbour < 0 || neighbour > LAST_ADDRESS) continue;
      const found = findSpecialRange(neighbour, neighbour) !== undefined;
      assert.equal(found, isListed(neighbour), formatIpv4(neighbour));
    }
  });

  test(`a range that contains ${cidr}, or touches one of its ends, is special`, () => {
    const before = Math.max(0, first - 1);
    const after = Math.min(LAST_ADDRESS, last + 1);
    assert.ok(findSpecialRange(before, after));
    assert.ok(findSpecialRange(before, first));
    assert.ok(findSpecialRange(last, after));
    assert.ok(findSpecialRange(0, LAST_ADDRESS));
  });

  test(`a range inside ${cidr} is special`, () => {
    const middle = Math.floor((first + last) / 2);
    assert.equal(findSpecialRange(middle, Math.max(middle, last - 1))?.cidr, cidr);
  });
}

test('public addresses are not special', () => {
  for (const address of ['1.0.0.0', '8.8.8.8', '9.255.255.255', '11.0.0.0', '223.255.255.255']) {
    assert.equal(findSpecialRange(numeric(address), numeric(address)), undefined, address);
  }
});
