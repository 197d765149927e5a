import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changedFields } from './changed-fields.ts';

const KEY = { name: 'Ledger', scopes: ['banks:read', 'trades:read'], ip_allowlist: ['198.35.26.0/24'] };

test('only fields that differ are sent, whatever the order of their lists', () => {
  const reordered = { ...KEY, scopes: KEY.scopes.toReversed() };
  assert.deepEqual(changedFields(KEY, reordered), {});
  assert.deepEqual(changedFields(KEY, { ...reordered, name: 'Books' }), { name: 'Books' });
  assert.deepEqual(changedFields(KEY, { ...KEY, ip_allowlist: [] }), { ip_allowlist: [] });
  const thresholds = { waiting: 0, subscriptions: [{ guid: 'a', waiting: 1 }] };
  const raised = { ...thresholds, subscriptions: [{ guid: 'a', waiting: 2 }] };
  assert.deepEqual(changedFields(thresholds, raised), { subscriptions: raised.subscriptions });
});
