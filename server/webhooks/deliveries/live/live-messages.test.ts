import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { EVENT_TYPES } from '../../events/catalogue.ts';
import type { Outcome } from '../delivery.ts';
import { DELIVERY_STATES } from '../state.ts';
import {
  attemptPayloads,
  interestPayload,
  type LiveAttempt,
  liveAttemptOf,
  organizationOf,
  readAttempts,
  readInterest,
} from './live-messages.ts';

const ORGANIZATION = 'a'.repeat(32);
const AT = new Date('2026-11-15T12:00:00.000Z');

const guid = fc.stringMatching(/^[0-9a-f]{32}$/);
const attempt = fc.record(
  {
    guid,
    subscription_guid: guid,
    subscription_event_guid: guid,
    event_type: fc.constantFrom(...EVENT_TYPES),
    environment: fc.constantFrom('sandbox', 'production'),
    state: fc.constantFrom(...DELIVERY_STATES),
    failure_kind: fc.constantFrom('timeout', 'unreachable', 'rejected'),
    response_status: fc.integer({ min: 100, max: 599 }),
    response_time_ms: fc.nat({ max: 10_000 }),
    attempted_at: fc.nat({ max: 86_400_000 }).map((ms) => new Date(AT.getTime() + ms).toISOString()),
  },
  {
    noNullPrototype: true,
    requiredKeys: [
      ...(['guid', 'subscription_guid', 'subscription_event_guid', 'event_type', 'environment'] as const),
      ...(['state', 'response_time_ms', 'attempted_at'] as const),
    ],
  },
) as fc.Arbitrary<LiveAttempt>;

test('attempts survive the encoding, within the payload limit of PostgreSQL', () => {
  fc.assert(
    fc.property(fc.array(attempt, { maxLength: 120 }), fc.nat(), (attempts, dropped) => {
      const payloads = attemptPayloads(ORGANIZATION, attempts, dropped);
      for (const payload of payloads) {
        assert.ok(Buffer.byteLength(payload) < 8_000);
        assert.equal(organizationOf(payload), ORGANIZATION);
      }
      const read = payloads.flatMap((payload) => readAttempts(payload) ?? []);
      assert.deepEqual(
        read.flatMap((each) => each.attempts),
        attempts,
      );
      assert.equal(
        read.reduce((sum, each) => sum + each.dropped, 0),
        dropped,
      );
    }),
    { numRuns: 50 },
  );
});

test('a quarter second at the maximum rate fits into one payload', () => {
  const long: LiveAttempt = {
    ...{ guid: ORGANIZATION, subscription_guid: ORGANIZATION, subscription_event_guid: ORGANIZATION },
    ...{ event_type: 'account.balance_funding_pull.below_minimum', environment: 'production' },
    ...{ state: 'failing', failure_kind: 'unreachable', response_status: 503, response_time_ms: 10_000 },
    attempted_at: AT.toISOString(),
  };
  assert.equal(attemptPayloads(ORGANIZATION, new Array(25).fill(long), 1_000_000).length, 1);
});

test('an unreadable payload is ignored', () => {
  for (const text of ['', '{', '{}', 'null', '[0,null]', '[0,["a"]]', '[0,7]'])
    assert.equal(readAttempts(ORGANIZATION + text), undefined, text);
});

test('the maximum interest fits into one payload, and invalid guids are ignored', () => {
  const guids = Array.from({ length: 200 }, (_, index) => index.toString(16).padStart(32, '0'));
  const payload = interestPayload(guids);
  assert.ok(Buffer.byteLength(payload) < 8_000);
  assert.deepEqual(readInterest(payload), guids);
  assert.deepEqual(readInterest(''), []);
  assert.deepEqual(readInterest(`x,${ORGANIZATION},${ORGANIZATION}0`), [ORGANIZATION]);
});

/** An attempt that ended a second ago at noon. */
function outcomeOf(fields: Partial<Outcome>): Outcome {
  const endedAt = new Date(AT.getTime() + 40);
  return {
    delivery: {
      guid: '1'.repeat(32),
      subscriptionGuid: '2'.repeat(32),
      organizationGuid: ORGANIZATION,
      environment: 'sandbox',
      eventGuid: '3'.repeat(32),
      bankGuid: null,
      eventType: 'transfer.completed',
      objectGuid: '4'.repeat(32),
      attemptCount: 0,
      createdAt: AT,
      isEarly: false,
    },
    url: 'https://partner.example/hook',
    ...{ result: 'completed', attemptedAt: AT, endedAt, durationMs: 40, status: 200, excerpt: 'secret' },
    ...{ reason: undefined, pausedUntil: undefined, nextAttemptAt: undefined, ...fields },
  };
}

test('a live attempt has the fields of the delivery and only the status of the response', () => {
  assert.deepEqual(liveAttemptOf(outcomeOf({}), undefined), {
    guid: '1'.repeat(32),
    subscription_guid: '2'.repeat(32),
    subscription_event_guid: '3'.repeat(32),
    event_type: 'transfer.completed',
    environment: 'sandbox',
    state: 'completed',
    response_status: 200,
    response_time_ms: 40,
    attempted_at: AT.toISOString(),
  });
});

test('a failure is storing first, failing after ten seconds, and failed after the last attempt', () => {
  const { endedAt } = outcomeOf({});
  const failed = { result: 'timeout', status: undefined } as const;
  const next = { ...failed, nextAttemptAt: new Date(endedAt.getTime() + 2_000) };
  const since = (ms: number) => new Date(endedAt.getTime() - ms);
  for (const [fields, failingSince, state] of [
    [next, since(0), 'storing'],
    [next, since(9_999), 'storing'],
    [next, since(10_000), 'failing'],
    [failed, since(10_000), 'failed'],
    [{ result: 'completed' }, undefined, 'completed'],
  ] as const)
    assert.equal(liveAttemptOf(outcomeOf(fields), failingSince).state, state);
  const shown = liveAttemptOf(outcomeOf(next), since(0));
  assert.deepEqual([shown.failure_kind, 'response_status' in shown], ['timeout', false]);
});
