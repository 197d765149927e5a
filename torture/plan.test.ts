import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseOptions } from './options.ts';
import { describeFault, type Fault, isOfNode, NODES, planFaults } from './plan.ts';

const FIVE_MINUTES = 300_000;

test('a seed decides the whole plan', () => {
  assert.deepEqual(planFaults(42, FIVE_MINUTES), planFaults(42, FIVE_MINUTES));
  assert.notDeepEqual(planFaults(42, FIVE_MINUTES), planFaults(43, FIVE_MINUTES));
});

test('every kind of fault occurs within five minutes, in order of time', () => {
  for (let seed = 0; seed < 50; seed += 1) {
    const plan = planFaults(seed, FIVE_MINUTES);
    const kinds = new Set(plan.map(({ kind }) => kind));
    assert.deepEqual(
      [...kinds].sort(),
      ['disk', 'kill', 'postgres', 'reset', 'stall', 'stall-open', 'terminate'],
      `seed ${seed}`,
    );
    for (const [index, { atMs, nodes }] of plan.entries()) {
      assert.ok(atMs >= (plan[index - 1]?.atMs ?? 0) && atMs < FIVE_MINUTES);
      assert.ok(nodes.every((name) => NODES.includes(name)));
    }
  }
});

test('faults of the database do not overlap each other', () => {
  for (let seed = 0; seed < 50; seed += 1) {
    const database = planFaults(seed, FIVE_MINUTES).filter((fault) => !isOfNode(fault));
    for (const [index, { atMs }] of database.entries()) {
      const before = database[index - 1];
      if (before) assert.ok(atMs > before.atMs + before.durationMs, `seed ${seed}`);
    }
  }
});

test('a fault is described with the processes that it meets', () => {
  const kill: Fault = { kind: 'kill', atMs: 0, durationMs: 1_500, nodes: ['dispatch-2'] };
  assert.equal(describeFault(kill), 'kill -9 dispatch-2 for 1.5 s');
  const stall: Fault = { kind: 'stall-open', atMs: 0, durationMs: 0, nodes: NODES };
  assert.equal(describeFault(stall), 'open connections of all processes stall');
});

test('options have limits', () => {
  const { minutes, rate, seed } = parseOptions(['--minutes', '1.5', '--seed', '9']);
  assert.deepEqual({ minutes, rate, seed }, { minutes: 1.5, rate: 100, seed: 9 });
  assert.notEqual(parseOptions([]).seed, parseOptions([]).seed);
  for (const args of [
    ['--minutes', '0'],
    ['--minutes', '500'],
    ['--rate', 'fast'],
    ['--seed', ''],
    ['--forever'],
  ])
    assert.throws(() => parseOptions(args), /--/);
});
