import assert from 'node:assert/strict';
import { test } from 'node:test';
import { failureOfDatabase } from './failures.ts';

function errorOf(code: string): Error {
  return Object.assign(new Error('of the server'), { severity: 'ERROR', code });
}

const CODES = {
  '40P01': 'overloaded',
  '40001': 'overloaded',
  '53200': 'overloaded',
  '53300': 'overloaded',
  '55P03': 'overloaded',
  '57014': 'overloaded',
  '08006': 'database_unavailable',
  '25006': 'database_unavailable',
  '53100': 'database_unavailable',
  '57P01': 'database_unavailable',
  '57P02': 'database_unavailable',
  '57P03': 'database_unavailable',
};

for (const [sqlState, code] of Object.entries(CODES))
  test(`SQLSTATE ${sqlState} becomes ${code} with Retry-After`, () => {
    const failure = failureOfDatabase(errorOf(sqlState));
    assert.equal(failure?.code, code);
    assert.equal(failure?.retryAfterSeconds, 1);
  });

test('a deadlock and a serialization failure say that nothing was changed', () => {
  for (const sqlState of ['40P01', '40001'])
    assert.match(String(failureOfDatabase(errorOf(sqlState))?.message), /changed nothing; send it again/);
});

test('a bug is not a database failure', () => {
  for (const sqlState of ['23505', '42601', '42P01', '22012'])
    assert.equal(failureOfDatabase(errorOf(sqlState)), undefined);
  assert.equal(failureOfDatabase(Object.assign(new Error('elsewhere'), { code: '40001' })), undefined);
});
