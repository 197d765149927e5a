import assert from 'node:assert/strict';
import { test } from 'node:test';
import { percent } from './percent.ts';

test('100% and 0% are exact', () => {
  const shown = [0, 0.00001, 0.29, 0.99, 0.9961, 0.999999, 1].map(percent);
  assert.deepEqual(shown, ['0%', '0.1%', '29.0%', '99.0%', '99.61%', '99.99%', '100%']);
});
