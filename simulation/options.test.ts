import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseOptions } from './options.ts';

test('seeds are counted from --from, and --seed is one', () => {
  assert.deepEqual(parseOptions(['--from', '5', '--seeds', '3']).seeds, [5, 6, 7]);
  assert.deepEqual(parseOptions(['--seed', '17', '--without', '0,3']).seeds, [17]);
  assert.deepEqual(parseOptions(['--seed', '17', '--without', '0,3']).without, [0, 3]);
  assert.equal(parseOptions([]).mode, 'run');
  assert.equal(parseOptions(['--seed', '17', '--trace']).mode, 'trace');
});

test('wrong options are explained', () => {
  assert.throws(() => parseOptions(['--seeds', 'many']), /--seeds must be a whole number from 1 to 100000/);
  assert.throws(() => parseOptions(['--seed', '0.5']), /--seed must be a whole number/);
  assert.throws(() => parseOptions(['--shrink']), /--shrink needs --seed/);
  assert.throws(() => parseOptions(['--sed', '1']), /Unknown option/);
});
