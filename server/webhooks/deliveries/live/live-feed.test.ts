import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { createFakeClock } from '../../../../testing/app/fake-clock.ts';
import { createLog } from '../../../infrastructure/runtime/log.ts';
import { createMetrics } from '../../../infrastructure/runtime/metrics.ts';
import type { Outcome } from '../delivery.ts';
import { createFakeNotifications } from '../testing/notifications.ts';
import { createLiveFeed } from './live-feed.ts';
import { ATTEMPTS_CHANNEL, INTEREST_CHANNEL, organizationOf, readAttempts } from './live-messages.ts';

/** Notifications of recorded attempts to viewers. */
const [ONE, OTHER] = ['1'.repeat(32), '2'.repeat(32)] as const;

async function createHarness() {
  const clock = createFakeClock();
  const { notifications, state, hear, take } = createFakeNotifications();
  const metrics = createMetrics();
  const log = createLog({ level: 'silent', terminal: false });
  const feed = createLiveFeed({ notifications, clock, timers: clock, metrics, log });
  await feed.start();
  let made = 0;
  const outcomeOf = (organizationGuid: string) => {
    made += 1;
    const guid = made.toString(16).padStart(32, '0');
    const delivery = {
      guid,
      organizationGuid,
      subscriptionGuid: guid,
      eventGuid: guid,
      eventType: 'plan.failed',
    };
    const at = clock.now();
    return { delivery, result: 'completed', attemptedAt: at, endedAt: at, durationMs: 1, status: 204 };
  };
  return {
    ...{ clock, state, metrics, feed },
    watch: (...guids: string[]) => hear(INTEREST_CHANNEL, guids.join()),
    note(organizationGuid: string, count = 1): void {
      const outcomes = Array.from({ length: count }, () => outcomeOf(organizationGuid));
      feed.note({ outcomes: outcomes as unknown as Outcome[], failingSince: new Map() });
    },
    /** Attempts sent for an Organization since the last call. */
    told(organizationGuid: string) {
      const payloads = take(ATTEMPTS_CHANNEL).filter((each) => organizationOf(each) === organizationGuid);
      const read = payloads.flatMap((payload) => readAttempts(payload) ?? []);
      return {
        payloads: payloads.length,
        attempts: read.flatMap(({ attempts }) => attempts).length,
        dropped: read.reduce((sum, { dropped }) => sum + dropped, 0),
      };
    },
    async watched(): Promise<number> {
      const line = /^portico_live_watched (\d+)$/m.exec(await metrics.read());
      return Number(line?.[1]);
    },
  };
}

const NOTHING = { payloads: 0, attempts: 0, dropped: 0 };

test('without viewers nothing is sent and no timer is set', async () => {
  const { clock, feed, note, told } = await createHarness();
  note(ONE, 500);
  assert.equal(clock.waiting(), 0);
  clock.advance(60_000);
  await feed.stop();
  assert.deepEqual(told(ONE), NOTHING);
});

test('only watched Organizations are notified, at most four times per second', async () => {
  const { clock, note, told, watch } = await createHarness();
  watch(ONE);
  note(OTHER, 10);
  assert.equal(clock.waiting(), 0);
  note(ONE);
  note(ONE, 2);
  clock.advance(249);
  assert.deepEqual(told(ONE), NOTHING);
  clock.advance(1);
  assert.deepEqual(told(ONE), { payloads: 1, attempts: 3, dropped: 0 });
  assert.deepEqual(told(OTHER), NOTHING);
});

test('at most a hundred attempts per second are sent, the others are counted', async () => {
  const { clock, note, told, watch } = await createHarness();
  watch(ONE);
  note(ONE, 99);
  note(ONE, 51);
  clock.advance(250);
  await turn();
  const first = told(ONE);
  assert.deepEqual([first.attempts, first.dropped], [100, 50]);
  clock.advance(749);
  note(ONE, 5);
  clock.advance(250);
  await turn();
  const second = told(ONE);
  assert.deepEqual([second.attempts, second.dropped], [0, 5], 'still the same second');
  note(ONE, 5);
  clock.advance(250);
  await turn();
  const third = told(ONE);
  assert.deepEqual([third.attempts, third.dropped], [5, 0]);
});

test('the limit applies per Organization', async () => {
  const { clock, note, state, feed, watch, told } = await createHarness();
  watch(ONE, OTHER);
  note(ONE, 200);
  note(OTHER, 3);
  assert.equal(state.away, false);
  clock.advance(250);
  await feed.stop();
  assert.deepEqual(told(OTHER), { payloads: 1, attempts: 3, dropped: 0 });
});

test('interest expires after 30 seconds unless it is renewed', async () => {
  const { clock, note, told, watch, watched } = await createHarness();
  watch(ONE);
  clock.advance(20_000);
  watch(ONE);
  clock.advance(29_999);
  assert.equal(await watched(), 1);
  note(ONE);
  clock.advance(1);
  note(ONE);
  clock.advance(250);
  await turn();
  assert.equal(told(ONE).attempts, 1, 'the second one came too late');
  assert.equal(await watched(), 0);
  note(ONE);
  assert.equal(clock.waiting(), 0);
});

test('however many Organizations are watched, each is told of its attempts or how many were dropped', async () => {
  const { clock, watch, watched, note, told } = await createHarness();
  const guids = Array.from({ length: 101 }, (_, index) => index.toString(16).padStart(32, '0'));
  const last = guids.at(-1) as string;
  watch(...guids);
  assert.equal(await watched(), 101);
  note(last);
  clock.advance(250);
  await turn();
  assert.deepEqual(told(last), { payloads: 1, attempts: 1, dropped: 0 });
  clock.advance(1_000);
  for (const guid of guids) note(guid, 100);
  clock.advance(250);
  await turn();
  assert.deepEqual(told(last), { payloads: 1, attempts: 0, dropped: 100 }, 'of 10,000 at once');
});

test('attempts are collected during a notification, up to a second’s worth', async () => {
  const { clock, note, state, told, watch } = await createHarness();
  const { promise, resolve } = Promise.withResolvers<void>();
  state.hold = promise;
  watch(ONE);
  note(ONE);
  clock.advance(250);
  assert.equal(told(ONE).attempts, 1);
  for (let second = 0; second < 5; second++) {
    clock.advance(1_000);
    note(ONE, 60);
  }
  assert.deepEqual(told(ONE), NOTHING);
  resolve();
  await turn();
  clock.advance(250);
  await turn();
  const gathered = told(ONE);
  assert.deepEqual([gathered.attempts, gathered.dropped], [100, 200]);
});

test('an outage loses live attempts and nothing else', async () => {
  const { clock, note, state, told, watch } = await createHarness();
  watch(ONE);
  state.away = true;
  note(ONE);
  clock.advance(250);
  await turn();
  state.away = false;
  note(ONE, 2);
  clock.advance(250);
  await turn();
  assert.equal(told(ONE).attempts, 2);
});

test('stop flushes collected attempts and leaves no timer', async () => {
  const { clock, feed, note, told, watch } = await createHarness();
  watch(ONE);
  note(ONE, 3);
  await feed.stop();
  assert.equal(told(ONE).attempts, 3);
  assert.equal(clock.waiting(), 0);
});
