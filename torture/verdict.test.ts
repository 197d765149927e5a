import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Answer, answersDuring, problemOf } from './answers.ts';
import { compare } from './comparison.ts';
import { NODES } from './plan.ts';
import type { End } from './portico-process.ts';
import type { Fate, Sent } from './sent.ts';
import { type Evidence, problemsIn } from './verdict.ts';

function answer(status: number, more: Partial<Answer> = {}): Answer {
  return { startedAt: 10, endedAt: 20, call: 'POST /operator/events', status, ...more };
}
const refused = answer(503, { retryAfter: '1', code: 'database_unavailable' });

test('2xx and 503 with Retry-After are right answers, 500 and 503 without it are not', () => {
  for (const right of [answer(201), answer(202), refused]) assert.equal(problemOf(right), undefined);
  const inProgress = answer(409, { code: 'idempotency_in_progress', retryAfter: '1' });
  assert.equal(problemOf(inProgress), undefined);
  assert.match(String(problemOf(answer(500, { code: 'internal_error' }))), /answered 500 internal_error/);
  assert.match(String(problemOf(answer(503))), /503 without Retry-After/);
  assert.match(String(problemOf(answer(409, { code: 'event_conflict' }))), /answered 409/);
  assert.match(String(problemOf(answer(401, { retryAfter: '1' }))), /answered 401/);
});

test('only calls that began and ended during an outage count as calls during it', () => {
  const outages = [{ from: 5, to: 25 }];
  const early = answer(202, { startedAt: 1 });
  const late = answer(202, { endedAt: 30 });
  assert.deepEqual(answersDuring([early, late, refused], outages), { refused: 1, accepted: [] });
  assert.equal(answersDuring([answer(202)], outages).accepted.length, 1);
});

const fates = (acknowledged: number, unknown: number): Fate[] => [
  ...Array<Fate>(acknowledged).fill('acknowledged'),
  ...Array<Fate>(unknown).fill('unknown'),
];
function sent(events: readonly Fate[], transfers: readonly Fate[]): Sent {
  const event = { event_type: 'trade.completed', object_guid: 'o', environment: 'sandbox' };
  return {
    events: events.map((fate, guid) => ({ ...event, guid: String(guid), organization_guid: 'a', fate })),
    transfers: transfers.map((fate) => ({ organizationGuid: 'a', fate })),
  };
}

const good: Evidence = {
  sent: sent(fates(2, 18), fates(1, 0)),
  comparison: compare({ events: [], transfers: [] }, [], []),
  answers: [refused],
  faults: [{ kind: 'postgres', nodes: NODES, from: 5, to: 25 }],
  outages: [{ from: 5, to: 25 }],
  ends: [],
  ...{ waiting: 0, neverAccepted: 0 },
};
const end = (more: Partial<End>): End => ({
  ...{ at: 1_000_000, node: 'api-1', cause: 'itself', code: 1, signal: null, wasServing: false },
  ...more,
});

test('a run that kept every promise has no problems', () => {
  const ends = [
    end({ cause: 'kill', code: null, signal: 'SIGKILL', wasServing: true }),
    end({ cause: 'terminate', code: 0, wasServing: true }),
    end({ at: 20 }),
  ];
  assert.deepEqual(problemsIn({ ...good, ends }), []);
});

test('each broken promise fails a run', () => {
  const duplicate = { path: '/a', guid: '1', first: 100_000, again: 100_001 };
  const broken: [RegExp, Partial<Evidence>][] = [
    [/1 accepted and lost: \/a 1/, { comparison: { ...good.comparison, lost: ['/a 1'] } }],
    [/another Organization's endpoint/, { comparison: { ...good.comparison, misrouted: ['/a 1'] } }],
    [/invalid signature/, { comparison: { ...good.comparison, forged: ['/a 1'] } }],
    [/changed content/, { comparison: { ...good.comparison, altered: ['/a 1'] } }],
    [/never sent/, { comparison: { ...good.comparison, unexpected: ['/a 1'] } }],
    [/without a fault/, { comparison: { ...good.comparison, duplicates: [duplicate] } }],
    [/wrong answers: .* 500/, { answers: [refused, answer(500)] }],
    [/accepted while PostgreSQL was stopped/, { answers: [refused, answer(202)] }],
    [/no call was answered/, { answers: [] }],
    [/only 0 of 0 events/, { sent: sent([], fates(1, 0)) }],
    [/only 0 of 5 events .* at least 1 /, { sent: sent(fates(0, 5), fates(1, 0)) }],
    [/only 2 of 21 events .* at least 3 /, { sent: sent(fates(2, 19), fates(1, 0)) }],
    [/only 0 of 0 transfers/, { sent: sent(fates(1, 0), []) }],
    [/not finished in time/, { waiting: 3 }],
    [/never accepted/, { neverAccepted: 1 }],
    [/api-1 \(itself, 1\)/, { ends: [end({})] }],
    [/api-1 \(itself, 1\)/, { ends: [end({ at: 20, wasServing: true })] }],
    [/api-1 \(deadline, SIGKILL\)/, { ends: [end({ cause: 'deadline', code: null, signal: 'SIGKILL' })] }],
    [/api-1 \(terminate, 1\)/, { ends: [end({ cause: 'terminate', wasServing: true })] }],
  ];
  for (const [expected, change] of broken) {
    const problems = problemsIn({ ...good, ...change });
    assert.equal(problems.length, 1, problems.join('\n'));
    assert.match(String(problems[0]), expected);
  }
});
