import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Callers, createCallers, issueToken } from '../../testing/api/api-callers.ts';
import { createTestApp, type TestApp } from '../../testing/app/app.ts';
import { newObject, report, reportObject, reportOf, typeOf } from '../../testing/objects/objects.ts';
import { eventTypesOf } from '../../testing/webhooks/subscriptions.ts';
import { until } from '../../testing/webhooks/webhooks.ts';

/** The timing and durability of the simulator. Its paths are tested in `events.test.ts`. */
const app = await createTestApp();
const owner = await createCallers(app);
const transfer = typeOf('transfer');
const DAY_MS = 24 * 3_600_000;

async function create(on: TestApp, of: Callers, fields: object = {}, name = 'transfer'): Promise<string> {
  const type = typeOf(name);
  const { status, body } = await on.call({
    method: 'POST',
    url: `/api/${type.plural}`,
    token: await issueToken(on, of, 'bank'),
    payload: { ...(await newObject(on, type, of)), ...fields },
  });
  assert.equal(status, 201, JSON.stringify(body));
  return String(body.guid);
}

const emitted = async (guid: string, on = app) =>
  (await eventTypesOf(on, guid)).map((event) => event.split('.').at(-1)).join(' ');

function rowOf(guid: string, on = app) {
  return on.database.queries
    .selectFrom('objects')
    .selectAll()
    .where('guid', '=', guid)
    .executeTakeFirstOrThrow();
}

async function pass(ms: number, on = app): Promise<void> {
  on.clock.advance(ms);
  await on.simulator.drain();
}

test('every state lasts as long as the setting says', async () => {
  for (const [delay, ms] of [
    ['5s', 5_000],
    ['30m', 1_800_000],
  ] as const) {
    const slow = await createTestApp({ environment: { PORTICO_SIMULATOR_DELAY: delay } });
    const guid = await create(slow, await createCallers(slow));
    for (const [before, after] of [
      ['storing', 'storing reviewing'],
      ['storing reviewing', 'storing reviewing completed'],
    ] as const) {
      await pass(ms - 1, slow);
      assert.equal(await emitted(guid, slow), before);
      await pass(1, slow);
      assert.equal(await emitted(guid, slow), after);
    }
    const { ending, next_move_at, updated_at } = await rowOf(guid, slow);
    assert.deepEqual([ending, next_move_at, updated_at], [null, null, slow.clock.now()], 'at rest');
  }
});

test('without a delay an object goes through all states at once', async () => {
  const quick = await createTestApp({ environment: { PORTICO_SIMULATOR_DELAY: '0s' } });
  const guid = await create(quick, await createCallers(quick));
  await quick.simulator.drain();
  assert.equal(await emitted(guid, quick), 'storing reviewing completed');
});

test('a started simulator wakes for each transition, and for none after it was stopped', async () => {
  const running = await createTestApp();
  const of = await createCallers(running);
  await running.simulator.start();
  const guid = await create(running, of);
  // By its events: while a transition is written, the time of the next one may come.
  for (const states of ['storing reviewing', 'storing reviewing completed'])
    await until(async () => {
      running.clock.advance(100);
      return (await emitted(guid, running)).startsWith(states);
    }, states);

  const left = await create(running, of);
  await running.simulator.stop();
  running.clock.advance(60_000);
  assert.equal(await emitted(left, running), 'storing');
  await running.simulator.start();
  await until(async () => {
    running.clock.advance(1_000);
    return (await emitted(left, running)) === 'storing reviewing completed';
  }, 'the remaining states');
});

test('an API process wakes the simulators', async () => {
  const environment = { PORTICO_SIMULATOR_DELAY: '0s' };
  const works = await createTestApp({ environment });
  const { testDatabase, clock } = works;
  const serves = await createTestApp({ environment, testDatabase, clock });
  const of = await createCallers(serves);
  await works.simulator.start();
  clock.advance(0);
  const guid = await create(serves, of);
  await until(async () => {
    // Time stands still, so the regular poll does not run.
    clock.advance(0);
    return (await rowOf(guid, serves)).state === 'completed';
  }, 'the message');
});

test('a transition without a notification is found by the regular poll', async () => {
  const running = await createTestApp();
  const of = await createCallers(running);
  const guid = await create(running, of, { simulate: 'pending' });
  await pass(1_000, running);
  await running.simulator.start();
  const waiting = running.clock.waiting();
  running.clock.advance(0);
  await until(() => running.clock.waiting() === waiting, 'the end of the first poll');
  await running.database.queries
    .updateTable('objects')
    .set({ ending: 'holding', next_move_at: running.clock.now() })
    .where('guid', '=', guid)
    .execute();
  await until(async () => {
    running.clock.advance(10_000);
    return (await emitted(guid, running)) === 'storing pending holding';
  }, 'the regular poll');
});

test('another process continues the simulation of a dead one', async () => {
  const guid = await create(app, owner, {}, 'trade');
  await pass(1_000);
  const next = await createTestApp({ testDatabase: app.testDatabase, clock: app.clock });
  assert.equal(await emitted(guid), 'storing pending');
  for (let step = 0; step < 5; step++) await pass(1_000, next);
  assert.equal(await emitted(guid), 'storing pending executed settling completed');
});

test('several concurrent processes make each transition once', async () => {
  const nodes = [app, await createTestApp({ testDatabase: app.testDatabase, clock: app.clock })];
  const payload = await newObject(app, transfer, owner);
  const token = await issueToken(app, owner, 'bank');
  const guids: string[] = [];
  // More than one batch, which has a hundred.
  for (let i = 0; i < 120; i++) {
    const { body } = await app.call({ method: 'POST', url: '/api/transfers', token, payload });
    guids.push(String(body.guid));
  }
  for (let step = 0; step < 2; step++) {
    app.clock.advance(1_000);
    await Promise.all([...nodes, ...nodes].map((node) => node.simulator.drain()));
  }
  for (const guid of guids) assert.equal(await emitted(guid), 'storing reviewing completed');
});

test('a transition and its event are atomic', async () => {
  const late = await createTestApp();
  const guid = await create(late, await createCallers(late));
  // No partitions exist for that time, so no event can be written.
  late.clock.advance(60 * DAY_MS);
  await assert.rejects(late.simulator.drain(), /partition/);
  assert.equal((await rowOf(guid, late)).state, 'storing');
  await late.simulator.start();
  await until(() => {
    late.clock.advance(0);
    return late.logged.some((line) => line.includes('could not move objects'));
  }, 'the logged failure');
  await late.partitions.prepare();
  await until(async () => {
    late.clock.advance(1_000);
    return (await emitted(guid, late)) === 'storing reviewing completed';
  }, 'another try');
});

test('a report ends the simulation, unless it changes nothing', async () => {
  const guid = await create(app, owner);
  const put = (state: string) => report(app, transfer, guid, reportOf(transfer, owner, { state }));
  assert.equal((await put('storing')).status, 200);
  assert.notEqual((await rowOf(guid)).next_move_at, null);
  // A state on the path of the simulation, which would continue from there.
  assert.equal((await put('reviewing')).status, 200);
  await pass(10_000);
  assert.equal(await emitted(guid), 'storing reviewing');
  assert.equal((await rowOf(guid)).next_move_at, null);
});

test('a waiting identity verification expires after a day, unless it was moved on', async () => {
  const waiting = () => create(app, owner, { simulate: 'waiting' }, 'identity_verification');
  const [left, taken] = [await waiting(), await waiting()];
  await pass(1_000);
  assert.equal(await emitted(left), 'storing waiting');
  await pass(DAY_MS - 1);
  assert.equal(await emitted(left), 'storing waiting');
  const type = typeOf('identity_verification');
  await report(app, type, taken, reportOf(type, owner, { state: 'pending' }));
  await pass(1);
  assert.equal(await emitted(left), 'storing waiting expired');
  await pass(2 * DAY_MS);
  assert.equal(await emitted(taken), 'storing waiting pending');
});

test('production objects are never simulated', async () => {
  const guid = await reportObject(app, 'transfer', owner);
  await pass(DAY_MS);
  assert.equal(await emitted(guid), 'storing', 'reported sandbox objects are not simulated either');
  const simulated = {
    environment: 'production' as const,
    ending: 'completed',
    next_move_at: app.clock.now(),
  };
  const update = app.database.queries.updateTable('objects').set(simulated).where('guid', '=', guid);
  await assert.rejects(update.execute(), /simulated_in_sandbox_only/);
});

test('unknown object types are left to a newer version', async () => {
  const guid = await create(app, owner);
  await app.database.queries
    .updateTable('objects')
    .set({ type: 'novelty' })
    .where('guid', '=', guid)
    .execute();
  await pass(10_000);
  assert.equal(await emitted(guid), 'storing');
  await app.database.queries.deleteFrom('objects').where('guid', '=', guid).execute();
});
