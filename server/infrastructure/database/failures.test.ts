import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTestDatabase } from '../../../testing/database/database.ts';
import { createLog } from '../runtime/log.ts';
import { createDatabase } from './database.ts';
import { failureOfDatabase, startupErrorOf } from './failures.ts';

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

test('a query of a request that outlives the shutdown of its process is not a bug', async () => {
  const { url, drop } = await createTestDatabase();
  const log = createLog({ level: 'silent', terminal: false });
  const { queries, close } = createDatabase({ url, connections: 1, log });
  const read = () => queries.selectFrom('organizations').selectAll().execute();
  await read();
  await close();
  const error: unknown = await read().catch((reason) => reason);
  assert.equal(failureOfDatabase(error)?.code, 'database_unavailable');
  await drop();
});

test('a bug is not a database failure', () => {
  for (const sqlState of ['23505', '42601', '42P01', '22012'])
    assert.equal(failureOfDatabase(errorOf(sqlState)), undefined);
  assert.equal(failureOfDatabase(Object.assign(new Error('elsewhere'), { code: '40001' })), undefined);
});

test('a start that the database ended is reported in one sentence, a bug with its stack', () => {
  const reported = startupErrorOf(errorOf('53100'));
  assert.equal(reported?.message, 'The database failed (of the server); correct that and start again.');
  assert.equal(startupErrorOf(reported), reported);
  assert.equal(startupErrorOf(new SuppressedError(new Error('not closed'), reported)), reported);
  assert.equal(startupErrorOf(errorOf('42601')), undefined);
  assert.equal(startupErrorOf(new TypeError('a bug')), undefined);
});
