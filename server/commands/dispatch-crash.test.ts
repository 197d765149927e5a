import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import {
  type Arrival,
  countEach,
  createCounter,
  createDispatching,
  type Dispatching,
  type NewEvent,
  newEvents,
  stop,
  untilQueueIsEmpty,
} from '../../testing/dispatching.ts';
import { BOUNDED, type Running, waitFor } from '../../testing/serve.ts';

const MIN_BATCH = 250;
const MAX_BATCH = 500;
const CLIENTS = 3;
/** Events posted ahead of arrivals, so that events come in during the whole run of a dispatcher. */
const AHEAD = 1_500;
const LOOK_AGAIN_AFTER_MS = 10;
type Counter = Awaited<ReturnType<typeof createCounter>>;
/** One run of a dispatcher: the arrivals, and those that were not recorded when it was killed. */
type Run = { arrived: readonly Arrival[]; inFlight: ReadonlySet<string> };

/** Reproducible random moments: a failed run prints its seed. */
function createRandom(t: TestContext) {
  const seed = Number(process.env.DISPATCH_CRASH_SEED ?? randomInt(2 ** 31));
  t.after(() => {
    if (!t.passed) t.diagnostic(`for the same moments: DISPATCH_CRASH_SEED=${seed}`);
  });
  let state = seed;
  // Mulberry32, a small random generator.
  return function between(least: number, most: number): number {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return least + (((mixed ^ (mixed >>> 14)) >>> 0) % (most - least + 1));
  };
}

/** Clients that repeat a batch with the same guids until it is acknowledged. */
function createClients({ post }: Dispatching, events: readonly NewEvent[], url?: string) {
  /** Calls that were cut off, and batches that had been accepted nevertheless. */
  const seen = { cutOff: 0, acceptedBefore: 0 };
  let posted = 0;

  async function insist(batch: readonly NewEvent[]): Promise<void> {
    for (;;)
      try {
        if ((await post(batch, url)) === 0) seen.acceptedBefore += 1;
        return;
      } catch (error) {
        // Only fetch itself fails with these; error responses are not repeated.
        if (!(error instanceof TypeError)) throw error;
        if ((error.cause as NodeJS.ErrnoException).code !== 'ECONNREFUSED') seen.cutOff += 1;
        await delay(LOOK_AGAIN_AFTER_MS);
      }
  }

  return {
    seen,
    posted: () => posted,
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
function watchRun({ eventsDelivered }: Dispatching, { arrivals, silent }: Counter) {
  const from = arrivals.length;
  return {
    count: () => arrivals.length - from,
    async end(): Promise<Run> {
      await silent();
      const arrived = arrivals.slice(from);
      const notWritten = new Set(await eventsDelivered(false));
      const inFlight = arrived.filter(({ guid }) => notWritten.has(guid)).map(({ guid }) => guid);
      return { arrived, inFlight: new Set(inFlight) };
    },
  };
}

/** Nothing is lost, no run sends twice, and events sent by two runs were in flight when the first one ended. */
async function assertAllArrived(
  t: TestContext,
  { eventsDelivered }: Dispatching,
  runs: readonly Run[],
  posted: readonly NewEvent[],
): Promise<void> {
  const arrived = countEach(runs.flatMap((run) => run.arrived.map(({ guid }) => guid)));
  const lost = posted.filter(({ guid }) => !arrived.has(guid));
  assert.deepEqual(lost, [], 'acknowledged and lost');
  assert.deepEqual(await eventsDelivered(false), [], 'everything is recorded');
  const delivered = await eventsDelivered(true);
  assert.equal(new Set(delivered).size, delivered.length, 'one delivery per event');
  assert.deepEqual([...arrived.keys()].sort(), delivered.sort());

  const recorded = new Set<string>();
  for (const [number, run] of runs.entries()) {
    const guids = run.arrived.map(({ guid }) => guid);
    assert.equal(new Set(guids).size, guids.length, `run ${number} sent something twice`);
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

type Plan = { kills: number; maxPerLife: number; start(): Running | Promise<Running>; url?: string };

/** Kills the only dispatcher repeatedly while events come in, and lets the last one finish. */
async function killWhilePosting(
  t: TestContext,
  { dispatching, counter, events }: { dispatching: Dispatching; counter: Counter; events: NewEvent[] },
  { kills, maxPerLife, start, url }: Plan,
) {
  const between = createRandom(t);
  // Once as soon as it can claim anything, otherwise after a random part of the work.
  const moments = Array.from({ length: kills }, (_, kill) => (kill === 1 ? 0 : between(1, maxPerLife)));
  const clients = createClients(dispatching, events, url);
  const runs: Run[] = [];
  let run = watchRun(dispatching, counter);
  let postedBefore = 0;
  const posting = clients.postAll(
    () => between(MIN_BATCH, MAX_BATCH),
    () => clients.posted() - postedBefore < run.count() + AHEAD,
  );
  // Awaited below; must not count as unhandled meanwhile.
  posting.catch(() => undefined);

  for (const [kill, enough] of moments.entries()) {
    const known = await dispatching.dispatchers();
    const dispatcher = await start();
    const hasStarted = async () => (await dispatching.dispatchers()).some((guid) => !known.includes(guid));
    await waitFor(`arrival ${enough} of run ${kill}`, dispatcher, () =>
      enough === 0 ? hasStarted() : run.count() >= enough,
    );
    dispatcher.kill('SIGKILL');
    assert.equal((await dispatcher.exited).signal, 'SIGKILL');
    runs.push(await run.end());
    postedBefore = clients.posted();
    run = watchRun(dispatching, counter);
  }

  const dispatcher = await start();
  await posting;
  await untilQueueIsEmpty(dispatching, dispatcher);
  await stop(dispatcher);
  runs.push(await run.end());
  await assertAllArrived(t, dispatching, runs, events);
  return clients.seen;
}

test('kill -9 of the only dispatcher at random moments over 20,000 events', BOUNDED, async (t) => {
  const counter = await createCounter(t);
  const dispatching = await createDispatching(t);
  const events = newEvents(await dispatching.createEndpoint(counter.url), 20_000);
  const { cutOff, acceptedBefore } = await killWhilePosting(
    t,
    { dispatching, counter, events },
    { kills: 6, maxPerLife: 2_500, start: dispatching.startDispatcher },
  );
  assert.deepEqual([cutOff, acceptedBefore], [0, 0], 'clients are not affected');
  await stop(dispatching.api);
});

test('kill -9 of serve while clients post and repeat calls that were cut off', BOUNDED, async (t) => {
  const counter = await createCounter(t);
  const dispatching = await createDispatching(t);
  const events = newEvents(await dispatching.createEndpoint(counter.url), 10_000);
  const { cutOff, acceptedBefore } = await killWhilePosting(
    t,
    { dispatching, counter, events },
    { kills: 4, maxPerLife: 2_000, start: dispatching.serve, url: dispatching.besidesUrl },
  );
  assert.ok(cutOff > 0, 'calls were in flight at a kill');
  t.diagnostic(`${cutOff} calls were cut off, ${acceptedBefore} of them accepted all the same`);
});
