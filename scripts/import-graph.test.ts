import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dependentsOf, importsOf } from './import-graph.ts';

test('imports, re-exports, dynamic imports and scripts by URL are found, packages by name', () => {
  const text = `
    import { readFile } from 'node:fs/promises';
    import fastify from 'fastify';
    import { one } from './one.ts';
    import type { Two } from '../two.ts';
    export { three } from './three.ts';
    export * from './four.ts';
    const five = await import('./five.ts');
    const six = new URL('./six.ts', import.meta.url);
  `;
  const names = ['one', 'three', 'four', 'five', 'six'].map((name) => `server/${name}.ts`);
  const packages = ['fastify', 'node:fs/promises'];
  assert.deepEqual([...importsOf('server/main.ts', text)].sort(), [...names, 'two.ts', ...packages].sort());
});

test('dependents are found through others, nearest first, and a circle ends', () => {
  const graph = new Map([
    ['a.test.ts', new Set(['b.ts'])],
    ['b.ts', new Set(['c.ts'])],
    ['c.ts', new Set(['b.ts'])],
    ['c.test.ts', new Set(['c.ts'])],
    ['d.test.ts', new Set(['d.ts'])],
  ]);
  assert.deepEqual([...dependentsOf(graph, ['c.ts'])], ['c.ts', 'b.ts', 'c.test.ts', 'a.test.ts']);
});
