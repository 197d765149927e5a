import assert from 'node:assert/strict';
import { test } from 'node:test';
import pg from 'pg';
import { isDatabaseUnavailable } from './unavailable.ts';

const ofServer = (code: string) => Object.assign(new pg.DatabaseError('x', 1, 'error'), { code });
const ofNetwork = (code: string) => Object.assign(new Error('connect'), { code });

test('a database that cannot be used is told from a statement that is wrong', () => {
  for (const code of ['08006', '08P01', '53300', '57P01', '57P02', '57P03', '57014', '55P03', '25006'])
    assert.ok(isDatabaseUnavailable(ofServer(code)), code);
  for (const code of ['ECONNREFUSED', 'ECONNRESET', 'ETIMEDOUT', 'ENOTFOUND', 'EAI_AGAIN'])
    assert.ok(isDatabaseUnavailable(ofNetwork(code)), code);
  assert.ok(isDatabaseUnavailable(new Error('Connection terminated unexpectedly')));
  assert.ok(isDatabaseUnavailable(new AggregateError([ofNetwork('ECONNREFUSED')])));

  for (const code of ['23505', '42P01', '40P01', '22P02', '28P01', '42501'])
    assert.equal(isDatabaseUnavailable(ofServer(code)), false, code);
  for (const error of [ofNetwork('ENOENT'), new Error('a bug'), new AggregateError([]), 'text', undefined])
    assert.equal(isDatabaseUnavailable(error), false, String(error));
});
