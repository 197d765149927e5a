import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countedAddress } from './address.ts';

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
