import assert from 'node:assert/strict';
import { test } from 'node:test';
import { reservePortBlock, servicePorts } from './port-block.ts';

test('concurrent runs get different ports', async (t) => {
  const ranges: ReturnType<typeof servicePorts>[] = [];
  for (const _ of ['one run', 'another']) {
    t.after(await reservePortBlock());
    ranges.push(servicePorts());
  }
  const [one, another] = ranges;
  assert.ok(one && another && one[1] <= another[0], JSON.stringify(ranges));
});
