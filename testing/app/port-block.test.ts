import assert from 'node:assert/strict';
import { test } from 'node:test';
import { reservePortBlock, servicePorts } from './port-block.ts';

test('concurrent runs get different ports', async (t) => {
  const ranges: ReturnType<typeof servicePorts>[] = [];
  for (const _ of ['one run', 'another']) {
    t.after(await reservePortBlock());
    ranges.push(servicePorts());
  }
  // A run that ends at this moment may leave an earlier block.
  const [lower, upper] = ranges.sort(([one], [other]) => one - other);
  assert.ok(lower && upper && lower[1] <= upper[0], JSON.stringify(ranges));
});
