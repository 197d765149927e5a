import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { createFakeClock } from '../../../testing/app/fake-clock.ts';
import { createGuids, firstGuidAt, isGuid } from './guid.ts';

const START = new Date('2026-11-15T12:00:00.000Z');

function createTestGuids() {
  const clock = createFakeClock(START);
  return { clock, guids: createGuids({ clock, randomBytes }) };
}

function millisecondsOf(guid: string): number {
  return Number.parseInt(guid.slice(0, 12), 16);
}

function assertGrowing(guids: readonly string[]): void {
  guids.reduce((before, guid) => {
    assert.ok(guid > before, `${guid} after ${before}`);
    return guid;
  }, '');
}

test('a guid is a UUIDv7: time, version and variant are as in RFC 9562', () => {
  const { guids } = createTestGuids();
  for (let i = 0; i < 1_000; i++) {
    const guid = guids.next();
    assert.match(guid, /^[0-9a-f]{12}7[0-9a-f]{3}[89ab][0-9a-f]{15}$/);
    assert.equal(millisecondsOf(guid), START.getTime());
  }
});

test('all random bits of a guid vary', () => {
  const { guids } = createTestGuids();
  const tails = Array.from({ length: 1_000 }, () => BigInt(`0x${guids.next().slice(16)}`));
  const ever = tails.reduce((bits, tail) => bits | tail, 0n);
  const always = tails.reduce((bits, tail) => bits & tail);
  assert.equal(ever, 0xbfff_ffff_ffff_ffffn);
  assert.equal(always, 0x8000_0000_0000_0000n);
});

test('guids grow within one millisecond, 10,000 of them and more', () => {
  const { guids } = createTestGuids();
  const made = Array.from({ length: 10_000 }, () => guids.next());
  assertGrowing(made);
  assert.ok(
    millisecondsOf(made.at(-1) ?? '') - START.getTime() <= 3,
    'uses as few later milliseconds as possible',
  );
});

test('guids grow when the clock steps back', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: -5_000, max: 5_000 }), { maxLength: 200 }), (steps) => {
      const { clock, guids } = createTestGuids();
      assertGrowing(
        steps.map((ms) => {
          clock.advance(ms);
          return guids.next();
        }),
      );
    }),
  );
});

test('two processes with the same clock create different guids', () => {
  const both = [createTestGuids(), createTestGuids()];
  const made = both.flatMap(({ guids }) => Array.from({ length: 5_000 }, () => guids.next()));
  assert.equal(new Set(made).size, made.length);
});

test('isGuid accepts only 32 lowercase hex characters', () => {
  const { guids } = createTestGuids();
  const guid = guids.next();
  assert.ok(isGuid(guid));
  const dashed = `${guid.slice(0, 8)}-${guid.slice(8)}`;
  for (const text of ['', guid.slice(1), `${guid}0`, guid.toUpperCase(), dashed, `${guid}\n`, 'g'.repeat(32)])
    assert.ok(!isGuid(text), JSON.stringify(text));
});

test('the smallest guid of a time outside the range is clamped', () => {
  assert.equal(firstGuidAt(new Date('1969-12-31T23:59:59.999Z')), '0'.repeat(32));
  assert.equal(firstGuidAt(new Date(-62_167_219_200_000)), '0'.repeat(32));
  assert.equal(firstGuidAt(new Date(2 ** 48)), 'f'.repeat(12).padEnd(32, '0'));
});
