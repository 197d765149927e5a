import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { test } from 'node:test';
import { compare } from './comparison.ts';
import type { Arrival, Endpoint } from './receivers.ts';
import type { Fate, SentEvent, SentTransfer } from './sent.ts';

const ENDPOINTS: Endpoint[] = [
  { path: '/a/1', organizationGuid: 'a', signingKey: 'k1', behaviour: 'fast' },
  { path: '/a/2', organizationGuid: 'a', signingKey: 'k2', behaviour: 'flaky' },
  { path: '/b/1', organizationGuid: 'b', signingKey: 'k3', behaviour: 'slow' },
];

function event(guid: string, fate: Fate = 'acknowledged', organization = 'a'): SentEvent {
  return {
    ...{ guid, organization_guid: organization, bank_guid: 'bank', event_type: 'trade.completed' },
    ...{ object_guid: `object of ${guid}`, environment: 'sandbox', fate },
  };
}

function arrival(path: string, { fate: _, ...body }: SentEvent, more: Partial<Arrival> = {}): Arrival {
  const sha256 = hash('sha256', JSON.stringify(body));
  return { at: 1_000, path, status: 204, isGenuine: true, sha256, event: body, ...more };
}

const one = event('1');
const everywhere = [arrival('/a/1', one), arrival('/a/2', one)];
const run = (events: SentEvent[], arrivals: Arrival[], transfers: SentTransfer[] = []) =>
  compare({ events, transfers }, ENDPOINTS, arrivals);

test('an acknowledged event at every endpoint of its Organization is neither lost nor duplicate', () => {
  const { received, unknownReceived, ...problems } = run([one], everywhere);
  assert.deepEqual([received, unknownReceived], [2, 0]);
  for (const [name, found] of Object.entries(problems)) assert.deepEqual(found, [], name);
});

test('an acknowledged event that one endpoint did not receive is lost', () => {
  assert.deepEqual(run([one], [arrival('/a/1', one)]).lost, ['/a/2 1']);
});

test('an arrival that was answered with an error does not count', () => {
  const failed = arrival('/a/2', one, { status: 500 });
  assert.deepEqual(run([one], [arrival('/a/1', one), failed]).lost, ['/a/2 1']);
  const { duplicates, lost } = run([one], [failed, ...everywhere]);
  assert.deepEqual([duplicates, lost], [[], []], 'a retry is not a duplicate');
});

test('an event of unknown fate that no endpoint received is not lost; a received one is counted once', () => {
  const [unknown, absent] = [event('2', 'unknown'), event('3', 'unknown')];
  const { lost, unknownReceived } = run(
    [unknown, absent],
    [arrival('/a/1', unknown), arrival('/a/2', unknown)],
  );
  assert.deepEqual([lost, unknownReceived], [[], 1]);
});

test('an event of unknown fate that one endpoint received was accepted, so it is lost for the other', () => {
  const unknown = event('2', 'unknown');
  const { lost, unknownReceived } = run([unknown], [arrival('/a/1', unknown)]);
  assert.deepEqual([lost, unknownReceived], [['/a/2 2'], 1]);
  const failed = arrival('/a/2', unknown, { status: 500 });
  assert.deepEqual(
    run([unknown], [failed]).lost,
    ['/a/1 2', '/a/2 2'],
    'an attempt that failed shows it, too',
  );
});

test('a second arrival that was answered with 2xx is a duplicate', () => {
  const again = arrival('/a/1', one, { at: 9_000 });
  assert.deepEqual(run([one], [...everywhere, again]).duplicates, [
    { path: '/a/1', guid: '1', first: 1_000, again: 9_000 },
  ]);
});

test("an event at another Organization's endpoint, with a wrong signature or with other content is found", () => {
  assert.deepEqual(run([one], [...everywhere, arrival('/b/1', one)]).misrouted, ['/b/1 1']);
  const forged = arrival('/a/1', one, { status: 401, isGenuine: false });
  assert.deepEqual(run([one], [...everywhere, forged]).forged, ['/a/1 1']);
  const changed = arrival('/a/2', { ...one, object_guid: 'another' });
  assert.deepEqual(run([one], [arrival('/a/1', one), changed]).altered, ['/a/2 1']);
});

test('every attempt of a posted event has its bytes: the same fields in another order are other content', () => {
  const { guid, fate, ...others } = one;
  const reordered = arrival('/a/2', { ...others, guid, fate });
  assert.deepEqual(run([one], [arrival('/a/1', one), reordered]).altered, ['/a/2 1']);
  const again = { ...reordered, at: 9_000 };
  assert.deepEqual(run([one], [...everywhere, again]).altered, ['/a/2 1'], 'a second arrival');
  const failed = { ...reordered, status: 500 };
  assert.deepEqual(run([one], [failed, ...everywhere]).altered, ['/a/2 1'], 'an attempt that failed');
});

test('all attempts of an event that the sandbox created have the same bytes', () => {
  const created = { ...event('s'), event_type: 'subscription.storing' };
  const spaced = arrival('/a/2', created, { sha256: hash('sha256', JSON.stringify(created, null, 1)) });
  assert.deepEqual(run([], [arrival('/a/1', created), arrival('/a/2', created)]).altered, []);
  assert.deepEqual(run([], [arrival('/a/1', created), spaced]).altered, ['/a/2 s']);
});

test('an event that was never reported is unexpected, but not that of a subscription', () => {
  const created = { ...event('s'), event_type: 'subscription.storing' };
  assert.deepEqual(run([one], [...everywhere, arrival('/a/1', created)]).unexpected, []);
  assert.deepEqual(run([one], [...everywhere, arrival('/a/1', event('9'))]).unexpected, [
    '/a/1 trade.completed 9',
  ]);
});

function transferEvents(object: string, ...states: string[]): Arrival[] {
  return states.map((state) =>
    arrival('/b/1', {
      ...event(`${object} ${state}`, 'acknowledged', 'b'),
      ...{ event_type: `transfer.${state}`, object_guid: object },
    }),
  );
}

test('an acknowledged transfer has the event of each of its states, once', () => {
  const transfers: SentTransfer[] = [{ organizationGuid: 'b', guid: 't', fate: 'acknowledged' }];
  const all = transferEvents('t', 'storing', 'reviewing', 'completed');
  assert.deepEqual(run([], all, transfers).lost, []);
  assert.deepEqual(run([], all.slice(0, 2), transfers).lost, ['/b/1 transfer.completed of t']);
  const [completed] = transferEvents('t', 'completed') as [Arrival];
  const second = { ...completed, event: { ...completed.event, guid: 'another' } };
  assert.deepEqual(run([], [...all, second], transfers).unexpected, ['/b/1 transfer.completed of t twice']);
});

test('a call of unknown fate may have created one transfer, not two', () => {
  const unknown: SentTransfer[] = [{ organizationGuid: 'b', fate: 'unknown' }];
  const first = transferEvents('x', 'storing', 'reviewing', 'completed');
  assert.deepEqual(run([], first, unknown).unexpected, []);
  assert.deepEqual(run([], first, unknown).lost, []);
  assert.deepEqual(run([], first.slice(0, 2), unknown).lost, ['/b/1 transfer.completed of x']);
  assert.deepEqual(run([], [...first, ...transferEvents('y', 'storing')], unknown).unexpected, [
    '2 transfers for 1 calls of unknown fate',
  ]);
});
