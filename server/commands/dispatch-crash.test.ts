import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { after, type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { createRandom } from '../../testing/api/random.ts';
import {
  type Arrival,
  countEach,
  createCounter,
  createDispatching,
  type Endpoint,
  type NewEvent,
  newEvents,
  sentAgain,
  stop,
  untilQueueIsEmpty,
} from '../../testing/app/dispatching.ts';
import { BOUNDED, type Running, waitFor } from '../../testing/app/serve.ts';

/** Below and above the deliveries that a dispatcher reads at once. */
const MIN_BATCH = 150;
const MAX_BATCH = 300;
const CLIENTS = 3;
/**
 * Events posted ahead of arrivals, so that events come in during the whole run of a dispatcher. More than a dispatcher
 * claims at once and leaves unrecorded (500), so that a kill finds deliveries in each state; more would add no state.
 */
const AHEAD = 600;
/** Arrivals before a kill, at most. */
const MAX_PER_RUN = 600;
const LOOK_AGAIN_AFTER_MS = 10;
type Counter = Awaited<ReturnType<typeof createCounter>>;
/** One run of a dispatcher: the arrivals, and those that were not recorded when it was killed. */
type Run = { arrived: readonly Arrival[]; inFlight: ReadonlySet<string> };

const dispatching = await createDispatching({ after });

/** Reproducible random moments: a failed run prints its seed. */
function createMoments(t: TestContext) {
  const seed = Number(process.env.DISPATCH_CRASH_SEED ?? randomInt(2 ** 31));
  t.after(() => {
    if (!t.passed) t.diagnostic(`for the same moments: DISPATCH_CRASH_SEED=${seed}`);
  });
  const random = createRandom(seed);
  return (least: number, most: number) => least + Math.floor(random() * (most - least + 1));
}

/** Clients that repeat a batch with the same guids until it is acknowledged. */
function createClients(events: readonly NewEvent[], url?: string) {
  /** Calls that were cut off, and batches that had been accepted nevertheless. */
  const seen = { cutOff: 0, acceptedBefore: 0 };
  let posted = 0;
  let calls = 0;

  async function insist(batch: readonly NewEvent[]): Promise<void> {
    for (;;)
      try {
        calls += 1;
        if ((await dispatching.post(batch, url)) === 0) seen.acceptedBefore += 1;
        return;
      } catch (error) {
        // Only fetch itself fails with these; error responses are not repeated.
        if (!(error instanceof TypeError)) throw error;
        if ((error.cause as NodeJS.ErrnoException).code !== 'ECONNREFUSED') seen.cutOff += 1;
        await delay(LOOK_AGAIN_AFTER_MS);
      } finally {
        calls -= 1;
      }
  }

  return {
    seen,
    posted: () => posted,
    /** Calls without an answer. */
    calls: () => calls,
    /** Posts until all batches are acknowledged, and waits before a batch while it may not be posted. */
    async postAll(batchSize: () => number, mayPost: () => boolean): Promise<void> {
      const client = async () => {
        while (posted < events.length)
          if (mayPost()) {
            const batch = events.slice(posted, posted + batchSize());
            posted += batch.length;
            await insist(batch);
          } else await delay(LOOK_AGAIN_AFTER_MS);
      };
      await Promise.all(Array.from({ length: CLIENTS }, client));
    },
  };
}

/** Records arrivals, and those in flight when the sender was killed. */
function watchRun({ arrivals, silent }: Counter, endpoint: Endpoint) {
  const from = arrivals.length;
  async function read(): Promise<Run> {
    const arrived = arrivals.slice(from);
    const notWritten = new Set(await dispatching.eventsDelivered(false, endpoint));
    const inFlight = arrived.filter(({ guid }) => notWritten.has(guid)).map(({ guid }) => guid);
    return { arrived, inFlight: new Set(inFlight) };
  }
  return {
    count: () => arrivals.length - from,
    async hasRecorded(): Promise<boolean> {
      const { arrived, inFlight } = await read();
      return inFlight.size < arrived.length;
    },
    async end(): Promise<Run> {
      await silent();
      return read();
    },
  };
}

/** Nothing is lost, no run sends twice, and events sent by two runs were in flight when the first one ended. */
async function assertAllArrived(
  t: TestContext,
  { endpoint, events }: Work,
  runs: readonly Run[],
): Promise<void> {
  const arrived = countEach(runs.flatMap((run) => run.arrived.map(({ guid }) => guid)));
  const lost = events.filter(({ guid }) => !arrived.has(guid));
  assert.deepEqual(lost, [], 'acknowledged and lost');
  assert.deepEqual(await dispatching.eventsDelivered(false, endpoint), [], 'everything is recorded');
  const delivered = await dispatching.eventsDelivered(true, endpoint);
  assert.equal(new Set(delivered).size, delivered.length, 'one delivery per event');
  assert.deepEqual([...arrived.keys()].sort(), delivered.sort());

  const recorded = new Set<string>();
  const timeouts = await dispatching.timeouts();
  for (const [number, run] of runs.entries()) {
    const guids = run.arrived.map(({ guid }) => guid);
    assert.deepEqual(sentAgain(run.arrived, timeouts), [], `run ${number} sent something twice`);
    const unexplained = guids.filter((guid) => recorded.has(guid));
    assert.deepEqual(unexplained, [], `run ${number} sent an event that was recorded`);
    for (const guid of guids) if (!run.inFlight.has(guid)) recorded.add(guid);
  }
  const killed = runs.slice(0, -1);
  assert.ok(
    killed.some((run) => run.inFlight.size < run.arrived.length),
    'nothing was written down before a kill',
  );
  const again = [...arrived.values()].filter((count) => count > 1).length;
  const figures = runs.map((run) => `${run.inFlight.size}/${run.arrived.length}`).join(' ');
  t.diagnostic(`in flight at the end of each run, of those sent: ${figures}; sent again: ${again}`);
}

type Work = { counter: Counter; endpoint: Endpoint; events: NewEvent[] };
/** `url` is where the killed process itself accepts events. */
type Plan = { kills: number; start(): Running | Promise<Running>; url?: string };

async function createWork(t: TestContext, count: number): Promise<Work> {
  const counter = await createCounter(t);
  const endpoint = await dispatching.createEndpoint(counter.url);
  return { counter, endpoint, events: newEvents(endpoint, count) };
}

/** Kills the only dispatcher repeatedly while events come in, and lets the last one finish. */
async function killWhilePosting(t: TestContext, work: Work, { kills, start, url }: Plan) {
  const { counter, endpoint, events } = work;
  const between = createMoments(t);
  // Once as soon as it can claim anything, otherwise after a random part of the work.
  const moments = Array.from({ length: kills }, (_, kill) => (kill === 1 ? 0 : between(1, MAX_PER_RUN)));
  const clients = createClients(events, url);
  const runs: Run[] = [];
  let run = watchRun(counter, endpoint);
  let postedBefore = 0;
  const posting = clients.postAll(
    () => between(MIN_BATCH, MAX_BATCH),
    () => clients.posted() - postedBefore < run.count() + AHEAD,
  );
  // Awaited below; must not count as unhandled meanwhile.
  posting.catch(() => undefined);

  for (const [kill, enough] of moments.entries())
    await t.test(`kill ${kill + 1} of ${kills}`, async () => {
      const known = await dispatching.dispatchers();
      const dispatcher = await start();
      const hasStarted = async () => (await dispatching.dispatchers()).some((guid) => !known.includes(guid));
      const cutsOff = () => url === undefined || clients.calls() > 0 || clients.posted() === events.length;
      const isReached = async () => (enough === 0 ? await hasStarted() : run.count() >= enough) && cutsOff();
      await waitFor(`arrival ${enough} of run ${kill}`, dispatcher, isReached);
      // A random moment may come before the first record, but not in all runs.
      if (kill === kills - 1) await waitFor(`a record of run ${kill}`, dispatcher, run.hasRecorded);
      dispatcher.kill('SIGKILL');
      assert.equal((await dispatcher.exited).signal, 'SIGKILL');
      runs.push(await run.end());
      await dispatching.expireLeases();
      postedBefore = clients.posted();
      run = watchRun(counter, endpoint);
    });

  await t.test('the last one finishes', async () => {
    const dispatcher = await start();
    await posting;
    await untilQueueIsEmpty(dispatching, dispatcher);
    await stop(dispatcher);
    runs.push(await run.end());
    await assertAllArrived(t, work, runs);
  });
  return clients.seen;
}

test('kill -9 of the only dispatcher at random moments over 4,000 events', BOUNDED, async (t) => {
  const work = await createWork(t, 4_000);
  const plan = { kills: 4, start: dispatching.startDispatcher };
  const { cutOff, acceptedBefore } = await killWhilePosting(t, work, plan);
  assert.deepEqual([cutOff, acceptedBefore], [0, 0], 'clients are not affected');
});

test('kill -9 of serve while clients post and repeat calls that were cut off', BOUNDED, async (t) => {
  const work = await createWork(t, 3_000);
  const plan = { kills: 3, start: dispatching.serve, url: dispatching.besidesUrl };
  const { cutOff, acceptedBefore } = await killWhilePosting(t, work, plan);
  assert.ok(cutOff > 0, 'calls were in flight at a kill');
  t.diagnostic(`${cutOff} calls were cut off, ${acceptedBefore} of them accepted all the same`);
  await stop(dispatching.api);
});
