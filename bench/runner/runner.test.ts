import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { BENCHMARKS } from '../benchmarks.ts';
import type { Benchmark } from './benchmark.ts';
import { type Options, readOptions } from './options.ts';
import { figuresOf } from './report.ts';
import { runAll } from './run-all.ts';
import { TARGETS, verdictOf } from './targets.ts';

const folder = mkdtempSync(join(tmpdir(), 'portico-bench-test-'));
after(() => rmSync(folder, { recursive: true }));
const startedAt = new Date('2026-11-16T12:00:00Z');
const KNOWN = ['relay', 'nodes', 'drain'];

async function run(benchmarks: Record<string, Benchmark['run']>, stop = new AbortController().signal) {
  const jsonFile = join(folder, 'results', 'run.json');
  const written: string[] = [];
  const exitCode = await runAll({
    benchmarks: Object.fromEntries(
      Object.entries(benchmarks).map(([name, each]) => [
        name,
        { about: 'a test', limitMinutes: 1, run: each },
      ]),
    ),
    options: { names: Object.keys(benchmarks), isTrial: true, historyRows: 1, jsonFile },
    startedAt,
    write: (text) => void written.push(text),
    stop,
  });
  return { exitCode, text: written.join(''), json: JSON.parse(readFileSync(jsonFile, 'utf8')) };
}

test('options name the benchmarks, in the usual order, and the sizes', () => {
  assert.deepEqual(readOptions(['drain', 'relay', '--quick'], KNOWN, startedAt), {
    names: ['relay', 'drain'],
    isTrial: true,
    historyRows: 100_000,
    jsonFile: 'bench/results/2026-11-16T12-00-00.000Z.json',
  });
  const all = readOptions(['--history', '2000', '--json', 'a.json'], KNOWN, startedAt) as Options;
  assert.deepEqual([all.names, all.historyRows, all.jsonFile], [KNOWN, 2_000, 'a.json']);
});

for (const args of [['unknown'], ['--history', 'many'], ['--history', '0'], ['--unknown']])
  test(`${args.join(' ')} is refused with the usage`, () => {
    const answer = readOptions(args, KNOWN, startedAt);
    assert.ok('text' in answer && answer.exitCode === 1);
    assert.match(answer.text, /Usage: npm run bench/);
  });

test('a verdict follows from must and aim', () => {
  const higher = { better: 'higher', must: 0.6, aim: 0.8 } as const;
  assert.deepEqual(
    [0.59, 0.6, 0.8, Number.NaN].map((value) => verdictOf(higher, value)),
    ['missed', 'must reached', 'aim reached', 'missed'],
  );
  const lower = { better: 'lower', must: 2, aim: 1.5 } as const;
  assert.deepEqual(
    [2.01, 2, 1.5].map((value) => verdictOf(lower, value)),
    ['missed', 'must reached', 'aim reached'],
  );
  assert.equal(verdictOf({ better: 'higher' }, 1), 'measured');
});

test('every figure belongs to a benchmark, and every benchmark has one', () => {
  const names = Object.keys(BENCHMARKS);
  assert.deepEqual(
    names.flatMap(figuresOf).toSorted(),
    Object.keys(TARGETS).toSorted(),
    'the first word of a figure is its benchmark',
  );
  assert.deepEqual(
    names.filter((name) => figuresOf(name).length === 0),
    [],
  );
});

test('a run prints a table, writes JSON and succeeds when every must is reached', async () => {
  const { exitCode, text, json } = await run({
    relay: async ({ size, rounds, progress }) => {
      progress(`${size(100)} in ${rounds(5)} round`);
      return [{ name: 'relay', value: 0.7, details: { own: 7 } }];
    },
    nodes: async () => [{ name: 'nodes', value: 0.5 }],
  });
  assert.equal(exitCode, 0);
  assert.match(text, /\nrelay: a test\n {2}5 in 1 round\n/);
  assert.match(text, /relay +0\.70 +≥ 0\.60 +≥ 0\.80 +must reached\nnodes +0\.50 +measured\n/);
  assert.equal(json.isTrial, true);
  const target = { better: 'higher', must: 0.6, aim: 0.8 };
  assert.deepEqual(json.figures[0], {
    ...{ name: 'relay', value: 0.7, verdict: 'must reached', details: { own: 7 } },
    ...target,
  });
});

test('a missed must, an error and a missing figure fail the run, and the others still run', async () => {
  const { exitCode, text, json } = await run({
    relay: async () => [{ name: 'relay', value: 0.1 }],
    drain: async () => Promise.reject(new Error('no disk')),
    overload: async () => [],
    nodes: async () => [{ name: 'nodes', value: 1 }],
  });
  assert.equal(exitCode, 1);
  assert.match(text, /relay +0\.10 .*MISSED\n/);
  assert.match(text, /drain .*FAILED: no disk\n/);
  assert.match(text, /overload .*FAILED: returned no figure for overload\n/);
  assert.deepEqual(
    json.figures.map(({ verdict }: { verdict: string }) => verdict),
    ['missed', 'failed', 'failed', 'measured'],
  );
});

test('a benchmark that is stopped ends what it started', async () => {
  const stop = new AbortController();
  let isEnded = false;
  const { exitCode, text } = await run(
    {
      relay: async ({ resources }) => {
        resources.defer(() => {
          isEnded = true;
        });
        stop.abort();
        return new Promise(() => {});
      },
      nodes: async () => [{ name: 'nodes', value: 1 }],
    },
    stop.signal,
  );
  assert.equal(exitCode, 1);
  assert.ok(isEnded);
  assert.match(text, /relay .*FAILED: stopped\n/);
  assert.doesNotMatch(text, /nodes/);
});
