import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import type { Endpoint } from '../../../subscriptions/service.ts';
import type { Delivery } from '../../delivery.ts';
import { createHarness, endpointOf, type Result, type Sending } from '../../testing/lanes-harness.ts';
import { createLimit, type Limit } from './limit.ts';

const LANE_CAPACITY = 5_000;
const LANE_CAPACITY_WHILE_FAILING = 32;
const LANE_CAPACITY_WHILE_HANGING = 2;
const MANY = 256;
const REST_MS = 50;

/** Commands of the model. Numbers are taken modulo the number of choices. */
const LANES = 4;
const lane = fc.nat({ max: LANES - 1 });
const chosen = fc.nat({ max: 1_000 });
const results = fc.constantFrom<Result>('completed', 'completed', 'rejected', 'timeout', 'unreachable');
const operations = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: fc.record({ does: fc.constant('reserve'), lane, count: fc.nat({ max: 60 }) }) },
    { weight: 8, arbitrary: fc.record({ does: fc.constant('add'), lane, count: fc.nat({ max: 60 }) }) },
    { weight: 2, arbitrary: fc.record({ does: fc.constant('unreserve'), lane, count: fc.nat({ max: 60 }) }) },
    {
      weight: 12,
      arbitrary: fc.record({
        does: fc.constant('end'),
        chosen,
        result: results,
        durationMs: fc.constantFrom(1, 2_500),
      }),
    },
    { weight: 8, arbitrary: fc.record({ does: fc.constant('recorded'), chosen }) },
    { weight: 3, arbitrary: fc.record({ does: fc.constant('refresh'), lane, over: fc.boolean() }) },
    { weight: 2, arbitrary: fc.record({ does: fc.constant('announce'), lane }) },
    { weight: 3, arbitrary: fc.record({ does: fc.constant('wait'), ms: fc.nat({ max: 60 }) }) },
    { weight: 1, arbitrary: fc.record({ does: fc.constant('empty') }) },
    { weight: 1, arbitrary: fc.record({ does: fc.constant('stop') }) },
  ),
  { minLength: 1, maxLength: 80 },
);

type Status = 'waiting' | 'in flight' | 'to be recorded' | 'recorded' | 'requeued' | 'removed';

/** Model of the lanes in plain counts. */
function createModel(harness: ReturnType<typeof createHarness>) {
  const { lanes, clock, sending, recording, requeued, deliveriesFor } = harness;
  const endpoints = Array.from({ length: LANES }, (_, index) =>
    endpointOf(index, { hasAnswered: index > 0 }),
  );
  const limits: Limit[] = endpoints.map((endpoint) => createLimit(endpoint));
  const restsUntil = endpoints.map(() => 0);
  const reserved = endpoints.map(() => 0);
  const fates = new Map<Delivery, Status>();
  const seen = new Set<Sending>();
  let stopped = false;
  let handedBackSeen = 0;

  const laneOf = ({ subscriptionGuid }: Delivery) => Number(subscriptionGuid.replace('lane-', ''));
  const count = (fate: Status, of?: number) =>
    [...fates].filter(([delivery, is]) => is === fate && (of === undefined || laneOf(delivery) === of))
      .length;

  function move(delivery: Delivery, from: Status, to: Status): void {
    assert.equal(fates.get(delivery), from, `${delivery.guid} becomes ${to}`);
    fates.set(delivery, to);
  }

  /** Updates the model with the actions of the lanes and compares. */
  function compare(): void {
    for (const entry of sending)
      if (!seen.has(entry)) {
        seen.add(entry);
        assert.ok(!stopped, 'nothing is sent after stop');
        assert.ok(entry.endpoint.delivers, 'nothing is sent to a endpoint that is over');
        move(entry.delivery, 'waiting', 'in flight');
      }
    for (const delivery of requeued.slice(handedBackSeen)) move(delivery, 'waiting', 'requeued');
    handedBackSeen = requeued.length;

    const { inFlight, held } = lanes.figures();
    const isLeaseValid = [...fates].filter(([, is]) =>
      ['waiting', 'in flight', 'to be recorded'].includes(is),
    );
    assert.equal(inFlight, count('in flight'));
    assert.equal(held, reserved.reduce((sum, each) => sum + each, 0) + isLeaseValid.length);
    assert.deepEqual(lanes.heldGuids().sort(), isLeaseValid.map(([{ guid }]) => guid).sort());
    endpoints.forEach((_, index) => {
      const mayGoOn =
        !stopped && count('waiting', index) > 0 && (restsUntil[index] ?? 0) <= clock.now().getTime();
      const limit = limits[index] as Limit;
      const wanted = limit.standing() === 'responsive' ? limit.current() : 1;
      if (mayGoOn) assert.ok(count('in flight', index) >= wanted, 'no lane waits');
    });
  }

  return {
    compare,
    isStopped: () => stopped,
    reserve(index: number, wanted: number): void {
      const endpoint = endpoints[index] as Endpoint;
      const granted = lanes.reserve(endpoint, wanted);
      const holds = ['waiting', 'in flight', 'to be recorded'] as const;
      const before = holds.reduce((sum, fate) => sum + count(fate, index), reserved[index] ?? 0);
      const limit = limits[index] as Limit;
      const isUnproven = limit.isFailing() || limit.standing() === 'unknown';
      const answersSoon = limit.standing() === 'responsive';
      const capacity = !answersSoon
        ? LANE_CAPACITY_WHILE_HANGING
        : isUnproven
          ? LANE_CAPACITY_WHILE_FAILING
          : LANE_CAPACITY;
      const free = Math.max(0, capacity - before);
      assert.equal(granted, stopped ? 0 : Math.min(wanted, free));
      reserved[index] = (reserved[index] ?? 0) + granted;
    },
    add(index: number, wanted: number): void {
      const endpoint = endpoints[index] as Endpoint;
      const added = deliveriesFor(endpoint, Math.min(wanted, reserved[index] ?? 0));
      reserved[index] = (reserved[index] ?? 0) - added.length;
      for (const delivery of added) fates.set(delivery, 'waiting');
      lanes.add(endpoint, added);
    },
    unreserve(index: number, wanted: number): void {
      const unused = Math.min(wanted, reserved[index] ?? 0);
      reserved[index] = (reserved[index] ?? 0) - unused;
      lanes.unreserve(endpoints[index]?.guid ?? '', unused);
    },
    end(which: number, result: Result, durationMs: number): void {
      const entry = sending[which % Math.max(1, sending.length)];
      if (!entry) return;
      const index = laneOf(entry.delivery);
      limits[index]?.learn({ result, durationMs });
      const restMs = limits[index]?.restMs() ?? 0;
      if (restMs > 0) restsUntil[index] = clock.now().getTime() + restMs;
      entry.end(result, durationMs);
      move(entry.delivery, 'in flight', 'to be recorded');
    },
    recorded(which: number): void {
      const entry = recording[which % Math.max(1, recording.length)];
      if (!entry) return;
      entry.done();
      move(entry.outcome.delivery, 'to be recorded', 'recorded');
    },
    refresh(index: number, over: boolean): void {
      const endpoint = endpointOf(index, { delivers: !over, hasAnswered: index > 0 });
      endpoints[index] = endpoint;
      lanes.refresh([endpoint]);
    },
    announce(index: number): void {
      lanes.announce(endpoints[index] as Endpoint);
    },
    empty(): void {
      for (const delivery of lanes.empty()) move(delivery, 'waiting', 'removed');
    },
    stop(): void {
      stopped = true;
      lanes.stop();
    },
    unreserveAll(): void {
      reserved.forEach((unused, index) => {
        reserved[index] = 0;
        lanes.unreserve(endpoints[index]?.guid ?? '', unused);
      });
    },
    isOver: () => [...fates.values()].every((is) => ['recorded', 'requeued', 'removed'].includes(is)),
  };
}

test('each delivery is sent, requeued or removed exactly once, and the counts agree', async () => {
  await fc.assert(
    fc.asyncProperty(operations, async (sequence) => {
      const harness = createHarness({ recorded: 'manually' });
      const model = createModel(harness);
      for (const operation of sequence) {
        if (operation.does === 'reserve') model.reserve(operation.lane, operation.count);
        else if (operation.does === 'add') model.add(operation.lane, operation.count);
        else if (operation.does === 'unreserve') model.unreserve(operation.lane, operation.count);
        else if (operation.does === 'end')
          model.end(operation.chosen, operation.result, operation.durationMs);
        else if (operation.does === 'recorded') model.recorded(operation.chosen);
        else if (operation.does === 'refresh') model.refresh(operation.lane, operation.over);
        else if (operation.does === 'announce') model.announce(operation.lane);
        else if (operation.does === 'wait') harness.clock.advance(operation.ms);
        else if (operation.does === 'empty') model.empty();
        else model.stop();
        await turn();
        model.compare();
      }
      // Everything ends without further commands.
      model.unreserveAll();
      if (model.isStopped()) model.empty();
      for (let polling = 0; !model.isOver() && polling < 10_000; polling++) {
        while (harness.sending.length > 0) model.end(0, 'completed', 1);
        while (harness.recording.length > 0) model.recorded(0);
        harness.clock.advance(REST_MS);
        await turn();
        model.compare();
      }
      assert.ok(model.isOver(), 'nothing is left behind');
      await harness.lanes.idle();
      const { inFlight, held } = harness.lanes.figures();
      assert.deepEqual({ inFlight, held }, { inFlight: 0, held: 0 });
    }),
    { numRuns: 150 },
  );
});

test('no lane starts a request beyond its limit', async () => {
  const steps = fc.array(fc.tuple(chosen, results, fc.constantFrom(1, 2_500)), { maxLength: 120 });
  await fc.assert(
    fc.asyncProperty(steps, async (outcomes) => {
      const { clock, fill, sending, started } = createHarness();
      const limit = createLimit({ hasAnswered: true });
      fill(endpointOf(1), MANY);
      for (const [which, result, durationMs] of outcomes) {
        const before = started.length;
        limit.learn({ result, durationMs });
        sending[which % Math.max(1, sending.length)]?.end(result, durationMs);
        await turn();
        clock.advance(REST_MS);
        if (started.length > before) assert.ok(sending.length <= limit.current());
        if (sending.length === 0) break;
      }
    }),
    { numRuns: 60 },
  );
});
