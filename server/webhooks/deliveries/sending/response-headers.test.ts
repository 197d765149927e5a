import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keptHeaders, MAX_HEADER_CHARACTERS } from './response-headers.ts';

test('headers with credentials are left out, the others are kept as text', () => {
  const kept = keptHeaders({
    'content-type': 'text/plain',
    via: ['a', 'b'],
    'set-cookie': ['a=1'],
    'www-authenticate': 'Bearer',
    'x-auth-token': 'x',
    'x-api-key': 'x',
    'x-session-id': 'x',
    ...{ 'x-api_key': 'x', 'x-functions-key': 'x', 'connect-sid': 'x', 'x-csrf': 'x', 'x-jwt-user': 'x' },
    ...{ 'x-passwd': 'x', 'x-signature': 'x' },
    empty: undefined,
    odd: 'a\0b\tc',
  });
  assert.deepEqual(kept, { 'content-type': 'text/plain', via: 'a, b', odd: 'a b c' });
});

test('headers are kept up to the limit', () => {
  const half = 'x'.repeat(MAX_HEADER_CHARACTERS / 2);
  assert.deepEqual(Object.keys(keptHeaders({ a: half, b: half, c: 'c' })), ['a']);
});
