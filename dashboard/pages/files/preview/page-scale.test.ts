import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pageScale } from './page-scale.ts';

test('ordinary pages are drawn at double size, pages of any other size within the limits', () => {
  assert.equal(pageScale({ width: 595, height: 842 }), 2);
  for (const [width, height] of [
    [14_400, 14_400],
    [10_000_000, 1],
    [1, 14_400],
  ] as const) {
    const scale = pageScale({ width, height });
    assert.ok(width * scale * height * scale <= 4_200_001, `${width} x ${height}`);
    assert.ok(Math.max(width, height) * scale <= 8_193, `${width} x ${height}`);
  }
});
