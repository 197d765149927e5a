import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { createFakeClock } from '../../../../testing/app/fake-clock.ts';
import { Failure, isFailure } from '../../../infrastructure/runtime/failure.ts';
import { createLog } from '../../../infrastructure/runtime/log.ts';
import { createMetrics } from '../../../infrastructure/runtime/metrics.ts';
import { createFakeNotifications } from '../testing/notifications.ts';
import {
  ATTEMPTS_CHANNEL,
  attemptPayloads,
  INTEREST_CHANNEL,
  type LiveAttempt,
  readInterest,
} from './live-messages.ts';
import type { LiveFilters } from './live-stream.ts';
import { createLiveViewers } from './live-viewers.ts';

/** Limits, filters and the end of streams. */
const [ONE, OTHER] = ['1'.repeat(32), '2'.repeat(32)] as const;
const EVERYTHING: LiveFilters = {
  ...{ environment: undefined, environments: undefined, subscriptionGuid: undefined, state: undefined },
};

type Opening = Partial<LiveFilters> & {
  organizationGuid?: string;
  isAllowed?: () => boolean | Promise<boolean>;
};

function createHarness() {
  const clock = createFakeClock();
  const fake = createFakeNotifications();
  const log = createLog({ level: 'silent', terminal: false });
  const metrics = createMetrics();
  const viewers = createLiveViewers({
    ...{ notifications: fake.notifications, clock, timers: clock, metrics, log },
  });
  const attemptOf = (fields: Partial<LiveAttempt> = {}): LiveAttempt => ({
    ...{ guid: ONE, subscription_guid: ONE, subscription_event_guid: ONE, event_type: 'plan.failed' },
    ...{ environment: 'sandbox', state: 'completed', response_status: 204, response_time_ms: 1 },
    ...{ attempted_at: clock.now().toISOString(), ...fields },
  });
  return {
    ...{ ...fake, clock, viewers, attemptOf },
    async open({
      organizationGuid = ONE,
      isAllowed = () => true,
      ...filters
    }: Opening = {}): Promise<Readable> {
      const stream = await viewers.open(organizationGuid, { ...EVERYTHING, ...filters }, isAllowed);
      assert.ok(!isFailure(stream));
      return stream;
    },
    tell(organizationGuid: string, attempts: readonly LiveAttempt[], dropped = 0): void {
      for (const payload of attemptPayloads(organizationGuid, attempts, dropped))
        fake.hear(ATTEMPTS_CHANNEL, payload);
    },
    interest: () => fake.take(INTEREST_CHANNEL).map(readInterest),
    async viewing(): Promise<number> {
      return Number(/^portico_live_viewers (\d+)$/m.exec(await metrics.read())?.[1]);
    },
  };
}

/** Reads the buffered text. */
function textOf(stream: Readable): string {
  let text = '';
  for (let chunk = stream.read(); chunk !== null; chunk = stream.read()) text += chunk;
  return text;
}

const messagesIn = (text: string) => text.match(/^data: /gm)?.length ?? 0;

test('a stream starts at once and announces its interest', async () => {
  const { open, interest } = createHarness();
  const stream = await open();
  assert.equal(textOf(stream), 'retry: 1000\n\n');
  assert.deepEqual(interest(), [[ONE]]);
});

test('interest is renewed every ten seconds while there are viewers', async () => {
  const { clock, open, interest, viewing } = createHarness();
  const [one, other] = [await open(), await open({ organizationGuid: OTHER })];
  const again = await open();
  interest();
  clock.advance(9_999);
  assert.deepEqual(interest(), []);
  clock.advance(1);
  assert.deepEqual(interest(), [[ONE, OTHER]], 'each Organization once');
  one.destroy();
  again.destroy();
  await once(again, 'close');
  clock.advance(10_000);
  assert.deepEqual(interest(), [[OTHER]]);
  other.destroy();
  await once(other, 'close');
  clock.advance(60_000);
  assert.deepEqual(interest(), []);
  assert.deepEqual([await viewing(), clock.waiting()], [0, 0]);
});

test('a viewer receives only attempts of its Organization', async () => {
  const { open, tell, attemptOf } = createHarness();
  const [one, other] = [await open(), await open({ organizationGuid: OTHER })];
  textOf(one);
  textOf(other);
  tell(ONE, [attemptOf()]);
  assert.equal(textOf(one), `data: ${JSON.stringify(attemptOf())}\n\n`);
  assert.equal(textOf(other), '');
});

test('filters are environment, subscription and state; the environment of the token always applies', async () => {
  const { open, tell, attemptOf } = createHarness();
  const streams = {
    token: await open({ environment: 'production' }),
    contrary: await open({ environment: 'production', environments: ['sandbox'] }),
    environments: await open({ environments: ['sandbox'] }),
    subscription: await open({ subscriptionGuid: [OTHER, '3'.repeat(32)] }),
    state: await open({ state: ['failing', 'failed'] }),
  };
  for (const stream of Object.values(streams)) textOf(stream);
  tell(ONE, [
    attemptOf(),
    attemptOf({ environment: 'production' }),
    attemptOf({ subscription_guid: OTHER }),
    attemptOf({ state: 'failing', failure_kind: 'timeout' }),
    attemptOf({ state: 'failed', failure_kind: 'timeout' }),
  ]);
  const counts = Object.entries(streams).map(([name, stream]) => [name, messagesIn(textOf(stream))]);
  assert.deepEqual(Object.fromEntries(counts), {
    ...{ token: 1, contrary: 0, environments: 4, subscription: 1, state: 2 },
  });
});

test('a stream has at most a hundred attempts per second from all recorders, and reports dropped ones', async () => {
  const { clock, open, tell, attemptOf } = createHarness();
  const stream = await open();
  textOf(stream);
  const attempts = Array.from({ length: 80 }, () => attemptOf());
  tell(ONE, attempts);
  tell(ONE, attempts, 7);
  assert.equal(messagesIn(textOf(stream)), 100);
  clock.advance(1_000);
  assert.equal(textOf(stream), 'event: dropped\ndata: {"dropped":67}\n\n');
  tell(ONE, attempts);
  assert.equal(messagesIn(textOf(stream)), 80);
  clock.advance(1_000);
  assert.equal(textOf(stream), '');
});

test('a silent stream sends a heartbeat every 15 seconds', async () => {
  const { clock, open } = createHarness();
  const stream = await open();
  textOf(stream);
  clock.advance(14_999);
  assert.equal(textOf(stream), '');
  clock.advance(1);
  assert.equal(textOf(stream), ':\n\n');
  clock.advance(15_000);
  assert.equal(textOf(stream), ':\n\n');
});

test('a viewer that is more than 256 KiB behind is disconnected, others are not', async () => {
  const { clock, open, tell, attemptOf, viewing } = createHarness();
  const [slow, quick] = [await open(), await open()];
  const closed = once(slow, 'close');
  let seconds = 0;
  for (; !slow.destroyed && seconds < 60; seconds++) {
    tell(
      ONE,
      Array.from({ length: 100 }, () => attemptOf()),
    );
    clock.advance(1_000);
    textOf(quick);
    assert.ok(slow.readableLength <= 300 * 1024);
  }
  assert.ok(seconds > 5, `after ${seconds} seconds`);
  await closed;
  assert.equal(slow.readableEnded, false, 'not as if that had been all');
  assert.deepEqual([quick.destroyed, await viewing()], [false, 1]);
});

test('a stream ends before the next message when its token is invalid', async () => {
  const { clock, open, tell, attemptOf } = createHarness();
  let allowed = true;
  const stream = await open({ isAllowed: () => allowed });
  textOf(stream);
  allowed = false;
  tell(ONE, [attemptOf()]);
  assert.equal(textOf(stream), '');
  stream.resume();
  await once(stream, 'end');
  const quiet = await open({ isAllowed: () => allowed });
  textOf(quiet);
  clock.advance(1_000);
  quiet.resume();
  await once(quiet, 'end');
});

test('a stream ends when the asynchronous token check fails', async () => {
  const { open, tell, attemptOf } = createHarness();
  const asked = await open({ isAllowed: async () => true });
  const refused = await open({ isAllowed: async () => false });
  const broken = await open({ isAllowed: () => Promise.reject(new Error('no connection')) });
  for (const stream of [asked, refused, broken]) textOf(stream);
  tell(ONE, [attemptOf()]);
  await turn();
  assert.equal(messagesIn(textOf(asked)), 1);
  for (const stream of [refused, broken]) {
    stream.resume();
    await once(stream, 'end');
  }
});

test('at most 20 streams per Organization and 200 per process', async () => {
  const { viewers, open, viewing } = createHarness();
  const refusalFor = async (guid: string) => {
    const refused = await viewers.open(guid, EVERYTHING, () => true);
    assert.ok(refused instanceof Failure);
    return [refused.code, refused.retryAfterSeconds];
  };
  const streams: Readable[] = [];
  for (let count = 0; count < 20; count++) streams.push(await open());
  assert.deepEqual(await refusalFor(ONE), ['api_rate_limit_exceeded', 15]);
  for (let count = 20; count < 200; count++)
    streams.push(await open({ organizationGuid: count.toString(16).padStart(32, '0') }));
  assert.deepEqual(await refusalFor(OTHER), ['overloaded', 15]);
  assert.equal(await viewing(), 200);
  streams[0]?.destroy();
  await turn();
  await open({ organizationGuid: OTHER });
});

test('the last streams of a process are for Organizations that have none', async () => {
  const { viewers } = createHarness();
  const isRefused = async (organization: number) => {
    const guid = organization.toString(16).padStart(32, '0');
    const opened = await viewers.open(guid, EVERYTHING, () => true);
    return opened instanceof Failure && opened.code;
  };
  for (let count = 0; count < 150; count += 1) assert.equal(await isRefused(count % 10), false);
  assert.equal(await isRefused(0), 'overloaded', 'one that has streams');
  for (let other = 10; other < 60; other += 1) assert.equal(await isRefused(other), false, `${other}`);
  assert.equal(await isRefused(60), 'overloaded');
});

test('concurrent requests cannot exceed the limit', async () => {
  const { viewers } = createHarness();
  const asked = Array.from({ length: 30 }, () => viewers.open(ONE, EVERYTHING, () => true));
  const refused = (await Promise.all(asked)).filter(isFailure);
  assert.equal(refused.length, 10);
});

test('stop ends every stream and refuses new ones', async () => {
  const { viewers, open, clock, tell, attemptOf } = createHarness();
  const [reading, stalled] = [await open(), await open()];
  textOf(reading);
  tell(ONE, [attemptOf()]);
  textOf(reading);
  const closed = once(stalled, 'close');
  viewers.stop();
  reading.resume();
  await Promise.all([once(reading, 'end'), closed]);
  assert.equal(stalled.readableEnded, false, 'stop does not wait for a stalled viewer');
  assert.equal(clock.waiting(), 0);
  const refused = await viewers.open(ONE, EVERYTHING, () => true);
  assert.ok(refused instanceof Failure && refused.code === 'overloaded');
});

test('a stream opens even while the database is unavailable', async () => {
  const { open, state, clock, interest, tell, attemptOf } = createHarness();
  state.away = true;
  const stream = await open();
  textOf(stream);
  state.away = false;
  clock.advance(10_000);
  assert.deepEqual(interest(), [[ONE]]);
  tell(ONE, [attemptOf()]);
  assert.equal(messagesIn(textOf(stream)), 1);
});

test('a reconnect notification is not forwarded', async () => {
  const { open, hear } = createHarness();
  const stream = await open();
  textOf(stream);
  hear(ATTEMPTS_CHANNEL);
  assert.equal(textOf(stream), '');
});
