import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, test } from 'node:test';
import { createFakeClock } from '../../../../testing/app/fake-clock.ts';
import { createTestDatabase } from '../../../../testing/database/database.ts';
import { createDatabase, type Database } from '../../../infrastructure/database/database.ts';
import { createGuids } from '../../../infrastructure/runtime/guid.ts';
import { createLog } from '../../../infrastructure/runtime/log.ts';
import { createLease } from './lease.ts';

const LEASE_MS = 10_000;
const MARGIN_MS = 2_000;

const silent = createLog({ level: 'silent', terminal: false });
const testDatabase = await createTestDatabase();
// One connection, so that statements run in order.
const real = createDatabase({ url: testDatabase.url, connections: 1, log: silent });
after(async () => {
  await real.close();
  await testDatabase.drop();
});

/** Timers run only in `renew`, so that a test decides when a lease is renewed. */
function createHarness(clock = createFakeClock()) {
  const timers = createFakeClock(new Date(0));
  const logged: string[] = [];
  const state = { away: false, lost: 0, statementMs: 0 };
  /** The terms in which the callbacks ran. */
  const terms: { lost: number[]; expired: number[] } = { lost: [], expired: [] };
  function reach(): void {
    if (state.away) throw new Error('the database is away');
    clock.advance(state.statementMs);
  }
  const database: Database = {
    ...real,
    get queries() {
      reach();
      return real.queries;
    },
    async transaction(work) {
      reach();
      return real.transaction(work);
    },
  };
  const destination = { write: (line: string) => void logged.push(line) };
  const lease = createLease({
    // Read for each statement, so that a test can simulate an outage.
    database: { ...database, queries: queriesOf(database), reserved: queriesOf(database) },
    ...{ clock, timers, guids: createGuids({ clock, randomBytes }) },
    log: createLog({ level: 'warn', terminal: false, destination }),
    onLost() {
      state.lost += 1;
      terms.lost.push(lease.term());
    },
    async onExpired() {
      terms.expired.push(lease.term());
    },
    onRenewed() {},
  });
  return {
    ...{ clock, timers, lease, logged, state, terms },
    /** Runs the renewal timer and waits for it. */
    async renew(): Promise<void> {
      timers.advance(2_000);
      await lease.ensure();
      await waitForStatements();
    },
  };
}

function queriesOf(database: Database): Database['queries'] {
  return new Proxy({} as Database['queries'], {
    get(_, name) {
      const { queries } = database;
      const value = Reflect.get(queries, name);
      return typeof value === 'function' ? value.bind(queries) : value;
    },
  });
}

/** Waits for the statements of a renewal in progress, which use the same connection. */
async function waitForStatements(): Promise<void> {
  for (let i = 0; i < 5; i++) await real.queries.selectFrom('dispatchers').select('guid').execute();
}

const dispatchers = async () => {
  const rows = await real.queries.selectFrom('dispatchers').selectAll().orderBy('guid').execute();
  return new Map(rows.map(({ guid, lease_until }) => [guid, lease_until]));
};

let made = 0;
/** Leased deliveries in the queue of this file's database. */
async function hold(holder: string, count: number): Promise<void> {
  await real.queries
    .insertInto('delivery_queue')
    .values(
      Array.from({ length: count }, () => {
        made += 1;
        return {
          subscription_guid: '1'.repeat(32),
          delivery_guid: made.toString(16).padStart(32, '0'),
          ...{ due_at: new Date(0), scheduled_at: new Date(0), leased_by: holder },
        };
      }),
    )
    .execute();
}

async function heldBy(holder: string | null): Promise<number> {
  const rows = await real.queries.selectFrom('delivery_queue').select('leased_by').execute();
  return rows.filter((row) => row.leased_by === holder).length;
}

async function clear(): Promise<void> {
  await real.queries.deleteFrom('delivery_queue').execute();
  await real.queries.deleteFrom('dispatchers').execute();
}

test('start acquires a lease of ten seconds', async () => {
  await clear();
  const { lease, clock } = createHarness();
  assert.equal(lease.holder(), undefined);
  assert.equal(lease.lastHolder(), undefined);
  await lease.start();
  const holder = lease.holder();
  assert.match(String(holder), /^[0-9a-f]{32}$/);
  assert.equal(lease.lastHolder(), holder);
  assert.deepEqual([...(await dispatchers())], [[holder, new Date(clock.now().getTime() + LEASE_MS)]]);
});

test('the holder stops using the lease two seconds before it expires', async () => {
  await clear();
  const { lease, clock } = createHarness();
  await lease.start();
  const holder = lease.holder();
  clock.advance(LEASE_MS - MARGIN_MS - 1);
  assert.equal(lease.holder(), holder);
  clock.advance(1);
  assert.equal(lease.holder(), undefined);
  assert.equal(lease.lastHolder(), holder, 'the last holder is kept');
});

test('renewal every two seconds keeps the lease', async () => {
  await clear();
  const { lease, clock, renew, state } = createHarness();
  await lease.start();
  const holder = lease.holder();
  for (let i = 0; i < 10; i++) {
    clock.advance(2_000);
    await renew();
    assert.equal(lease.holder(), holder);
  }
  assert.deepEqual([...(await dispatchers())], [[holder, new Date(clock.now().getTime() + LEASE_MS)]]);
  assert.equal(state.lost, 0);
});

test('ensure renews only an expired lease', async () => {
  await clear();
  const { lease, clock } = createHarness();
  await lease.start();
  const [until] = (await dispatchers()).values();
  clock.advance(1_000);
  await lease.ensure();
  assert.deepEqual([...(await dispatchers()).values()], [until]);
  clock.advance(LEASE_MS);
  assert.equal(lease.holder(), undefined);
  await lease.ensure();
  assert.ok(lease.holder());
});

test('deliveries of a dead dispatcher are released when its lease expires, not before', async () => {
  await clear();
  const clock = createFakeClock();
  const [dead, living] = [createHarness(clock), createHarness(clock)];
  await dead.lease.start();
  await living.lease.start();
  const [deadName = '', livingName = ''] = [dead.lease.holder(), living.lease.holder()];
  assert.notEqual(deadName, livingName);
  await hold(deadName, 5);
  await hold(livingName, 3);

  clock.advance(LEASE_MS);
  await living.renew();
  assert.equal(await heldBy(deadName), 5, 'to the last millisecond');
  clock.advance(1);
  await living.renew();
  // The lease was valid, so `ensure` had nothing to wait for.
  await waitForStatements();
  assert.equal(await heldBy(deadName), 0);
  assert.equal(await heldBy(null), 5);
  assert.equal(await heldBy(livingName), 3);
  assert.deepEqual([...(await dispatchers()).keys()], [livingName]);
  assert.match(living.logged.join(), /"deliveries":5,.*took over from an expired dispatcher/);
});

test('a starting dispatcher takes over from expired ones at once', async () => {
  await clear();
  const clock = createFakeClock();
  const [dead, fresh] = [createHarness(clock), createHarness(clock)];
  await dead.lease.start();
  await hold(dead.lease.holder() ?? '', 4);
  clock.advance(LEASE_MS + 1);
  await fresh.lease.start();
  assert.equal(await heldBy(null), 4);
});

test('a dispatcher that lost its lease is notified and acquires a new one', async () => {
  await clear();
  const clock = createFakeClock();
  const [paused, other] = [createHarness(clock), createHarness(clock)];
  await paused.lease.start();
  await other.lease.start();
  const before = paused.lease.holder() ?? '';
  await hold(before, 2);
  clock.advance(LEASE_MS + 1);
  await other.lease.ensure();
  assert.equal(await heldBy(null), 2);
  assert.equal(paused.state.lost, 0);

  assert.equal(paused.lease.holder(), undefined, 'it knows by itself that it must not rely on it');
  await paused.lease.ensure();
  assert.equal(paused.state.lost, 1);
  const now = paused.lease.holder();
  assert.ok(now && now !== before);
  assert.equal(paused.lease.lastHolder(), now);
  assert.deepEqual(new Set((await dispatchers()).keys()), new Set([now, other.lease.holder()]));
  assert.equal(other.state.lost, 0);
  assert.match(paused.logged.join(), /lease lost/);
});

test('a renewal during which the lease expires begins a new term', async () => {
  await clear();
  const { lease, clock, renew, state, terms } = createHarness();
  await lease.start();
  const before = lease.term();
  clock.advance(LEASE_MS - MARGIN_MS - 1);
  state.statementMs = MARGIN_MS + 2;
  await renew();
  state.statementMs = 0;
  assert.ok(lease.holder(), 'renewed');
  assert.deepEqual(terms.expired, [before + 1]);
  assert.equal(lease.term(), before + 1);
});

test('the term ends before the holder reacts to the end of its lease', async () => {
  await clear();
  const { lease, clock, terms } = createHarness();
  await lease.start();
  const first = lease.term();
  clock.advance(LEASE_MS);
  await lease.ensure();
  assert.deepEqual(terms, { lost: [], expired: [first + 1] });
  await real.queries.deleteFrom('dispatchers').execute();
  clock.advance(LEASE_MS);
  await lease.ensure();
  assert.deepEqual(terms, { lost: [first + 2], expired: [first + 1] });
  assert.equal(lease.term(), first + 3, 'and another begins with the new lease');
});

test('two dispatchers that find the same expired one release it once', async () => {
  await clear();
  const clock = createFakeClock();
  const [dead, ...living] = [createHarness(clock), createHarness(clock), createHarness(clock)];
  await dead.lease.start();
  await hold(dead.lease.holder() ?? '', 50);
  clock.advance(LEASE_MS + 1);
  await Promise.all(living.map(({ lease }) => lease.start()));
  assert.equal(await heldBy(null), 50);
  assert.equal(living.filter(({ logged }) => /took over/.test(logged.join())).length, 1);
});

test('during an outage nothing is claimed, and a short outage keeps the lease', async () => {
  await clear();
  const { lease, clock, logged, state } = createHarness();
  await lease.start();
  const holder = lease.holder();
  state.away = true;
  clock.advance(LEASE_MS);
  await lease.ensure();
  assert.equal(lease.holder(), undefined);
  assert.match(logged.join(), /could not renew the lease/);
  state.away = false;
  await lease.ensure();
  assert.equal(lease.holder(), holder);
  assert.equal(state.lost, 0);
});

test('stop releases all deliveries, deletes the lease and stops renewing', async () => {
  await clear();
  const { lease, timers } = createHarness();
  await lease.start();
  await hold(lease.holder() ?? '', 7);
  await lease.stop();
  assert.equal(await heldBy(null), 7);
  assert.equal((await dispatchers()).size, 0);
  assert.equal(lease.holder(), undefined);
  assert.equal(timers.waiting(), 0);
  await lease.stop();
});

test('stop before start does nothing', async () => {
  await createHarness().lease.stop();
});
