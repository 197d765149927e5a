import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { createTestApp } from '../../../testing/app/app.ts';
import type { Transaction } from '../database/database.ts';
import { isFailure } from '../runtime/failure.ts';
import { createIdempotencyKeys, type KeyedRequest } from './service.ts';

const app = await createTestApp();
const { database, clock } = app;
/** Two nodes. */
const [keys, otherKeys] = [createIdempotencyKeys(app), createIdempotencyKeys(app)];
const ANSWER = { status: 201, body: '{"a":1}' };
const LEASE_MS = 60_000;
const DAY_MS = 24 * 3_600_000;

function newRequest(): KeyedRequest {
  return { owner: 'owner', key: randomUUID(), fingerprint: randomBytes(32) };
}

type Record = Parameters<Parameters<typeof keys.run<string>>[1]>[0];

/** Stands for a change: a row that exists once the transaction has committed. */
async function change(transaction: Transaction, name: string): Promise<void> {
  const row = { key: name, window_started_at: clock.now(), used: 1 };
  await transaction.insertInto('rate_limits').values(row).execute();
}

async function isChanged(name: string): Promise<boolean> {
  const rows = await database.queries
    .selectFrom('rate_limits')
    .select('key')
    .where('key', '=', name)
    .execute();
  return rows.length > 0;
}

function changeAndRecord(name: string) {
  return (record: Record) =>
    database.transaction(async (transaction) => {
      await change(transaction, name);
      await record(transaction, ANSWER);
      return name;
    });
}

async function failureOf(outcome: Promise<unknown>): Promise<string> {
  const result = await outcome;
  return isFailure(result) ? result.code : JSON.stringify(result);
}

test('an abandoned claim is taken over when its lease has expired, and its owner rolls back', async () => {
  const request = newRequest();
  const resumed = Promise.withResolvers<void>();
  const claimed = Promise.withResolvers<void>();
  const slow = keys.run(request, async (record) => {
    claimed.resolve();
    await resumed.promise;
    return changeAndRecord('slow')(record);
  });
  await claimed.promise;

  clock.advance(LEASE_MS - 1);
  const early = await otherKeys.run(request, changeAndRecord('early'));
  assert.ok(isFailure(early));
  assert.deepEqual([early.code, early.retryAfterSeconds], ['idempotency_in_progress', 1]);

  clock.advance(1);
  assert.deepEqual(await otherKeys.run(request, changeAndRecord('takeover')), { row: 'takeover' });
  resumed.resolve();
  assert.equal(await failureOf(slow), 'idempotency_in_progress');
  assert.deepEqual(
    [await isChanged('slow'), await isChanged('early'), await isChanged('takeover')],
    [false, false, true],
  );
  assert.deepEqual(await keys.run(request, changeAndRecord('again')), { replayed: ANSWER });
});

test('a slow request keeps its claim after the lease unless another has taken it over', async () => {
  const request = newRequest();
  const outcome = await keys.run(request, async (record) => {
    clock.advance(2 * LEASE_MS);
    return changeAndRecord('late')(record);
  });
  assert.deepEqual(outcome, { row: 'late' });
});

test('a repeat during the commit waits for it and does nothing', async () => {
  const request = newRequest();
  const recorded = Promise.withResolvers<void>();
  const resumed = Promise.withResolvers<void>();
  const first = keys.run(request, (record) =>
    database.transaction(async (transaction) => {
      await change(transaction, 'committing');
      await record(transaction, ANSWER);
      recorded.resolve();
      await resumed.promise;
      return 'committing';
    }),
  );
  await recorded.promise;
  clock.advance(LEASE_MS);
  const repeat = otherKeys.run(request, changeAndRecord('meanwhile'));
  resumed.resolve();
  assert.deepEqual(await first, { row: 'committing' });
  // The answer depends on whether the commit was visible when the repeat began.
  assert.match(await failureOf(repeat), /idempotency_in_progress|replayed/);
  assert.equal(await isChanged('meanwhile'), false);
});

test('a kept answer is encrypted', async () => {
  const request = newRequest();
  await keys.run(request, changeAndRecord('encrypted'));
  const kept = database.queries.selectFrom('idempotency_keys').select('body_encrypted');
  const { body_encrypted: body } = await kept.where('key', '=', request.key).executeTakeFirstOrThrow();
  assert.ok(body && !body.includes(ANSWER.body));
});

test('an error after the commit is followed by the kept answer', async () => {
  const request = newRequest();
  const broken = keys.run(request, async (record) => {
    await changeAndRecord('before the crash')(record);
    throw new Error('crash between doing and answering');
  });
  await assert.rejects(broken, /crash/);
  assert.deepEqual(await otherKeys.run(request, changeAndRecord('again')), { replayed: ANSWER });
});

test('an error before the commit frees the key', async () => {
  const request = newRequest();
  const broken = keys.run(request, (record) =>
    database.transaction(async (transaction) => {
      await change(transaction, 'rolled back');
      await record(transaction, ANSWER);
      throw new Error('crash before the commit');
    }),
  );
  await assert.rejects(broken, /crash/);
  assert.equal(await isChanged('rolled back'), false);
  const other = { ...request, fingerprint: randomBytes(32) };
  assert.deepEqual(await otherKeys.run(other, changeAndRecord('another body')), { row: 'another body' });
});

test('another request with a key in progress is refused at once', async () => {
  const request = newRequest();
  const other = { ...request, fingerprint: randomBytes(32) };
  await keys.run(request, async (record) => {
    assert.equal(await failureOf(otherKeys.run(other, changeAndRecord('no'))), 'idempotency_key_reused');
    return changeAndRecord('yes')(record);
  });
});

test('a service that does not record its answer is a bug', async () => {
  await assert.rejects(
    keys.run(newRequest(), async () => 'unrecorded'),
    /was not recorded/,
  );
});

test('keys are deleted after 24 hours, in batches', async () => {
  await database.queries.deleteFrom('idempotency_keys').execute();
  const expired = Array.from({ length: 2_500 }, () => ({
    ...newRequest(),
    ...{ claim: randomUUID(), locked_until: clock.now(), created_at: clock.now() },
  }));
  await database.queries.insertInto('idempotency_keys').values(expired).execute();
  clock.advance(1);
  const kept = newRequest();
  await keys.run(kept, changeAndRecord('kept'));
  clock.advance(DAY_MS - 1);
  assert.equal(await keys.sweep(), expired.length);
  assert.deepEqual(await keys.run(kept, changeAndRecord('again')), { replayed: ANSWER });
  clock.advance(1);
  assert.equal(await app.clusterTasks.runOnce(), true);
  assert.deepEqual(await database.queries.selectFrom('idempotency_keys').select('key').execute(), []);
});
