import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withoutRoundedNumbers } from './rounded-numbers.ts';

const read = (number: string) => {
  const text = withoutRoundedNumbers(`{"amounts": [${number}]}`);
  return (JSON.parse(text) as { amounts: number[] }).amounts[0];
};

test('an integer in any form of JSON is kept', () => {
  for (const [number, value] of [
    ['9007199254740991', 9_007_199_254_740_991],
    ['-9007199254740991.000', -9_007_199_254_740_991],
    ['1050.0000000000000000000', 1_050],
    ['0.0000000000000000', 0],
    ['-0e5', -0],
    ['1e2', 100],
    ['1.05E+3', 1_050],
    ['105000e-2', 1_050],
    ['0.000000000000000000105e22', 1_050],
  ] as const)
    assert.equal(read(number), value, number);
});

test('a number that would be rounded to an integer becomes a fraction', () => {
  for (const number of [
    '9007199254740991.4',
    '1050.00000000000000001',
    '-0.99999999999999999',
    '1e-400',
    '105000000000000000000000000001e-26',
    `0.${'0'.repeat(100_000)}1`,
  ])
    assert.equal(read(number), 0.5, number.slice(0, 40));
});

test('numbers beyond the exact ones, fractions and texts are left as they are', () => {
  for (const text of [
    '1e400',
    '12345678901234567890',
    '1.5',
    '1050.5000000000000001',
    '": \\"1e-400"',
    '"é"',
  ])
    assert.deepEqual(read(text), JSON.parse(text), text);
});
