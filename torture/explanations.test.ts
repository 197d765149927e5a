import assert from 'node:assert/strict';
import { test } from 'node:test';
import { explain, explainAll, type PastFault } from './explanations.ts';
import type { NodeName } from './plan.ts';

function fault(kind: PastFault['kind'], from: number, to = from, node: NodeName = 'dispatch-1'): PastFault {
  return { kind, nodes: [node], from, to };
}
const duplicate = { path: '/a/1', guid: '1', first: 10_000, again: 22_000 };

test('a kill right after the first arrival explains a duplicate, one before or after does not', () => {
  assert.equal(explain(duplicate, [fault('kill', 10_050)])?.kind, 'kill');
  assert.equal(explain(duplicate, [fault('kill', 5_000)]), undefined);
  assert.equal(explain(duplicate, [fault('kill', 23_000)]), undefined);
  const soon = { ...duplicate, again: 11_000 };
  assert.equal(explain(soon, [fault('kill', 12_000)]), undefined, 'after the second arrival');
});

test('a fault that began after the outcome was recorded explains no duplicate', () => {
  assert.equal(explain(duplicate, [fault('kill', 15_000)])?.kind, 'kill');
  for (const kind of ['kill', 'postgres', 'stall', 'stall-open', 'reset', 'disk'] as const)
    assert.equal(explain(duplicate, [fault(kind, 15_001, 20_000)]), undefined, kind);
});

test('a fault that delays outcomes for long explains a duplicate, whatever ends the dispatcher later', () => {
  const late = { ...duplicate, again: 60_000 };
  for (const kind of ['postgres', 'stall', 'reset', 'disk'] as const)
    assert.equal(explain(late, [fault(kind, 2_000, 45_000), fault('kill', 44_000)])?.kind, kind);
  const afterStall = [fault('stall', 1_000, 3_000), fault('kill', 25_000)];
  assert.equal(explain(late, afterStall)?.kind, 'stall', 'its silent connections were not given up yet');
  assert.equal(explain(late, [fault('kill', 25_000)]), undefined, 'the kill alone came too late');
});

test('an outage explains a duplicate until outcomes can be recorded again', () => {
  assert.equal(explain(duplicate, [fault('postgres', 2_000, 8_000)])?.kind, 'postgres');
  assert.equal(explain(duplicate, [fault('postgres', 1_000, 3_000)]), undefined);
  assert.equal(explain(duplicate, [fault('stall', 1_000, 3_000)])?.kind, 'stall', 'silent for 25 s more');
});

test('neither a SIGTERM nor a fault of an API process explains a duplicate', () => {
  const faults = [fault('terminate', 10_100, 12_000), fault('kill', 10_100, 10_100, 'api-1')];
  const { byKind, unexplained } = explainAll([duplicate], faults);
  assert.deepEqual([byKind.size, unexplained], [0, [duplicate]]);
});

test('of several faults the one nearest to the first arrival explains a duplicate', () => {
  const faults = [fault('kill', 14_000), fault('stall-open', 9_000), fault('reset', 12_000, 21_000)];
  assert.equal(explain(duplicate, faults)?.kind, 'stall-open', 'its connections are silent for 25 s');
  assert.deepEqual([...explainAll([duplicate, duplicate], faults).byKind], [['stall-open', 2]]);
});
