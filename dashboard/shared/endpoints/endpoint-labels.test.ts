import assert from 'node:assert/strict';
import { test } from 'node:test';
import { reasonLabel } from './endpoint-labels.ts';

test('the reason of a failing endpoint is one line, and an error page is cut off', () => {
  assert.equal(reasonLabel({ excerpt: 'pool exhausted', reason: 'unused' }), 'pool exhausted');
  assert.equal(reasonLabel({ excerpt: '<html>\n  <body>\n' }), '<html> <body>');
  assert.equal(reasonLabel({ reason: 'connection refused' }), 'connection refused');
  assert.equal(reasonLabel({ excerpt: 'x'.repeat(1_000) }), `${'x'.repeat(200)}…`);
  assert.equal(reasonLabel({}), undefined);
});
