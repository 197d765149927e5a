import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countedAddress, networkOf } from './address.ts';

test('an IPv4 address counts by itself', () => {
  assert.equal(countedAddress('198.35.26.96'), '198.35.26.96');
});

test('the addresses of one IPv6 /64 count as one, those of another apart', () => {
  assert.equal(countedAddress('2620:0:862:1::1'), countedAddress('2620:0:862:1:ffff::2'));
  assert.notEqual(countedAddress('2620:0:862:1::1'), countedAddress('2620:0:862:2::1'));
});

test('calls without an address count together', () => {
  assert.equal(countedAddress(undefined), 'unknown');
});

test('fair sharing uses the /24 of IPv4 and the /48 of IPv6', () => {
  assert.equal(networkOf('198.35.26.1'), networkOf('198.35.26.254'));
  assert.notEqual(networkOf('198.35.26.1'), networkOf('198.35.27.1'));
  assert.equal(networkOf('::ffff:198.35.26.1'), networkOf('198.35.26.1'));
  assert.equal(networkOf('2001:db8:1:2::1'), networkOf('2001:db8:1:3::1'));
  assert.notEqual(networkOf('2001:db8:1::1'), networkOf('2001:db8:2::1'));
  for (const address of [undefined, 'nonsense']) assert.equal(networkOf(address), 'unknown');
});
