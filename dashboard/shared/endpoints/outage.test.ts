import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createdFor, outagesOf } from './outage.ts';

const at = (minute: number) => new Date(Date.UTC(2026, 10, 15, 12, minute)).toISOString();
const step = (minute: number) => ({ from: new Date(at(minute)), until: new Date(at(minute + 1)) });
const period = (from: number, to: number, health: 'healthy' | 'failing' | 'partly_failing') => ({
  ...{ from: at(from), to: at(to), health },
});

test('a step within an outage lists the deliveries since its beginning', () => {
  const periods = [
    period(0, 10, 'healthy'),
    period(10, 11, 'partly_failing'),
    period(11, 20, 'failing'),
    period(20, 30, 'healthy'),
  ];
  const outages = outagesOf({ range: '1h', periods, changes: [] }, {});
  assert.deepEqual(createdFor(step(15), outages), { from: at(10), until: at(16) });
  for (const healthy of [5, 20, 25])
    assert.deepEqual(createdFor(step(healthy), outages), { from: at(healthy), until: at(healthy + 1) });
});

test('a present outage may have begun before the chart', () => {
  const periods = [period(30, 60, 'failing')];
  const outages = outagesOf({ range: '1h', periods, changes: [] }, { failing_since: at(2) });
  assert.deepEqual(createdFor(step(45), outages), { from: at(2), until: at(46) });
});
