import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { EndpointEffect } from '../../subscriptions/service.ts';
import type { Delivery, Outcome } from '../delivery.ts';
import { effectsOn } from './endpoint-health.ts';

const URL = 'https://partner.example/hook';

function outcomeOf(result: Outcome['result'], at: number, guid = 'a', url = URL): Outcome {
  return {
    delivery: { subscriptionGuid: guid } as Delivery,
    url,
    result,
    attemptedAt: new Date(0),
    endedAt: new Date(at),
    ...{
      durationMs: 1,
      status: 200,
      excerpt: '',
      reason: undefined,
      nextAttemptAt: undefined,
      pausedUntil: undefined,
    },
  };
}

const effectOf = (...outcomes: Outcome[]) => effectsOn(outcomes)[0];

test('no outcomes have no effect', () => {
  assert.deepEqual(effectsOn([]), []);
});

test('only successes', () => {
  assert.deepEqual(effectOf(outcomeOf('completed', 1), outcomeOf('completed', 3)), {
    ...{ guid: 'a', url: URL, succeededAt: new Date(3), failingSince: undefined, at: new Date(3) },
  });
});

test('only failures: since the first', () => {
  assert.deepEqual(effectOf(outcomeOf('timeout', 2), outcomeOf('rejected', 5)), {
    ...{ guid: 'a', url: URL, succeededAt: undefined, failingSince: new Date(2), at: new Date(5) },
  });
});

test('failures after a success: since the first after it', () => {
  const outcomes = [
    outcomeOf('timeout', 1),
    outcomeOf('completed', 2),
    outcomeOf('unreachable', 3),
    outcomeOf('rejected', 4),
  ];
  const expected = {
    guid: 'a',
    url: URL,
    succeededAt: new Date(2),
    failingSince: new Date(3),
    at: new Date(4),
  };
  assert.deepEqual(effectOf(...outcomes), expected);
  assert.deepEqual(effectOf(...outcomes.toReversed()), expected, 'the order of recording does not matter');
});

test('a success after failures: not failing', () => {
  assert.deepEqual(effectOf(outcomeOf('completed', 9), outcomeOf('timeout', 8)), {
    ...{ guid: 'a', url: URL, succeededAt: new Date(9), failingSince: undefined, at: new Date(9) },
  });
});

test('outcomes of two URLs are two effects', () => {
  const [before, after] = effectsOn([
    outcomeOf('timeout', 2),
    outcomeOf('completed', 1, 'a', `${URL}/new`),
  ]).sort((a, b) => a.url.localeCompare(b.url));
  assert.deepEqual([before?.succeededAt, before?.failingSince], [undefined, new Date(2)]);
  assert.deepEqual([after?.succeededAt, after?.failingSince], [new Date(1), undefined]);
});

/** Applies the outcomes one by one. */
function fold(guid: string, outcomes: readonly Outcome[]): EndpointEffect {
  const inOrder = outcomes
    .filter(({ delivery }) => delivery.subscriptionGuid === guid)
    .toSorted((a, b) => a.endedAt.getTime() - b.endedAt.getTime());
  let succeededAt: Date | undefined;
  let failingSince: Date | undefined;
  let at = new Date(0);
  for (const { result, endedAt } of inOrder) {
    if (result === 'completed') {
      succeededAt = endedAt;
      failingSince = undefined;
    } else if (failingSince === undefined) failingSince = endedAt;
    at = endedAt;
  }
  return { guid, url: URL, succeededAt, failingSince, at };
}

test('a batch has the same effect as its outcomes one by one', () => {
  const outcome = fc
    .tuple(
      fc.constantFrom<Outcome['result']>('completed', 'timeout', 'rejected', 'unreachable'),
      fc.nat({ max: 20 }),
      fc.constantFrom('a', 'b', 'c'),
    )
    .map(([result, at, guid]) => outcomeOf(result, at, guid));
  fc.assert(
    fc.property(fc.array(outcome, { maxLength: 40 }), (outcomes) => {
      const guids = [...new Set(outcomes.map(({ delivery }) => delivery.subscriptionGuid))].sort();
      const before = [...outcomes];
      assert.deepEqual(
        effectsOn(outcomes).sort((a, b) => a.guid.localeCompare(b.guid)),
        guids.map((guid) => fold(guid, outcomes)),
      );
      assert.deepEqual(outcomes, before, 'the batch stays as it was');
    }),
    { numRuns: 300 },
  );
});
