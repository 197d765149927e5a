import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { createFakeClock } from '../../testing/app/fake-clock.ts';
import { openTestDatabase } from '../../testing/database/database.ts';
import { createGuids } from '../infrastructure/runtime/guid.ts';
import { createMetrics } from '../infrastructure/runtime/metrics.ts';
import { createRequestRecorder } from './recorder.ts';
import { createSampling } from './sampling.ts';

const { database, log } = await openTestDatabase();

function createRecorder() {
  const clock = createFakeClock();
  const guids = createGuids({ clock, randomBytes });
  const metrics = createMetrics();
  let isAway = false;
  function reach(): void {
    if (isAway) throw new Error('Connection terminated');
  }
  const clients = { find: async () => reach() as undefined };
  const queries = database.queries.withPlugin({
    transformQuery({ node }) {
      reach();
      return node;
    },
    transformResult: async ({ result }) => result,
  });
  const recorder = createRequestRecorder({ queries, clients, timers: clock, log, metrics });
  const organizationGuid = guids.next();
  function record(changes: object = {}) {
    recorder.record({
      requestId: guids.next(),
      identity: {
        type: 'organization',
        id: guids.next(),
        organizationGuid,
        bankGuid: undefined,
        environment: 'sandbox',
      },
      ...{ method: 'GET', route: '/api/banks/:guid', objectGuid: null, status: 200 },
      ...{ messageCode: undefined, durationMs: 1.6, address: undefined, sampleRate: 1, ...changes },
    });
  }
  const written = () =>
    database.queries
      .selectFrom('request_log')
      .selectAll()
      .where('organization_guid', '=', organizationGuid)
      .execute();
  async function counted(result: string): Promise<number> {
    const line = new RegExp(`portico_request_log_calls_total{result="${result}"} (\\d+)`);
    return Number(line.exec(await metrics.read())?.[1] ?? 0);
  }
  const goAway = (away: boolean) => {
    isAway = away;
  };
  return { clock, guids, recorder, record, written, counted, goAway };
}

test('calls are written together a second later', async () => {
  const { clock, recorder, record, written, counted } = createRecorder();
  record();
  record({ durationMs: 25 * 3_600_000 });
  assert.equal((await written()).length, 0);
  clock.advance(1_000);
  await recorder.flush();
  const [row, ...others] = await written();
  assert.deepEqual(others, []);
  assert.equal(row?.path, '/api/banks/{guid}');
  assert.equal(row?.object_guid, null);
  assert.equal(row?.duration_ms, 2);
  assert.equal(await counted('written'), 1);
});

test('while the database is unavailable calls wait, and beyond the limit they are dropped and counted', async () => {
  const { recorder, record, written, counted, goAway } = createRecorder();
  goAway(true);
  for (let i = 0; i < 10_005; i++) record();
  await recorder.flush();
  assert.equal(await counted('dropped'), 5);
  assert.equal(await counted('written'), 0);
  goAway(false);
  await recorder.flush();
  assert.equal((await written()).length, 10_000);
});

test('a batch that the database rejects is dropped, not repeated', async () => {
  const { recorder, record, written, counted } = createRecorder();
  record({ requestId: '0'.repeat(32) });
  await recorder.flush();
  assert.equal(await counted('dropped'), 1);
  record();
  await recorder.flush();
  assert.equal((await written()).length, 1);
});

test('calls with an unverified client_id do not displace others, however long the database is away', async () => {
  const { guids, recorder, record, written, counted, goAway } = createRecorder();
  const unverified = { type: undefined, organizationGuid: undefined, bankGuid: undefined };
  function recordUnverified() {
    const identity = { ...unverified, id: guids.next(), environment: 'sandbox' as const };
    if (recorder.sampleRateOf(identity, 401) > 0) record({ identity });
  }
  goAway(true);
  for (let outage = 0; outage < 12; outage++) {
    for (let i = 0; i < 1_200; i++) recordUnverified();
    record();
    await recorder.flush();
  }
  assert.equal(await counted('dropped'), 12 * 1_200 - 1_000);
  goAway(false);
  await recorder.flush();
  assert.equal((await written()).length, 12);
});

test('above 100 calls a second a tenant is sampled; its errors and other tenants are not', () => {
  const sampling = createSampling();
  const rates = Array.from({ length: 2_000 }, () => sampling.rateOf('one', false)).filter((rate) => rate > 0);
  const of = (rate: number) => rates.filter((each) => each === rate).length;
  assert.deepEqual([of(1), of(10), of(100)], [100, 90, 10]);
  assert.equal(sampling.rateOf('one', true), 1);
  assert.equal(sampling.rateOf('two', false), 1);
  sampling.reset();
  assert.equal(sampling.rateOf('one', false), 1);
});
