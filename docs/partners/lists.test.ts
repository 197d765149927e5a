import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { queryOf, readOperations } from '../../testing/api/operations.ts';
import { createTestApp } from '../../testing/app/app.ts';

const page = await readFile(join(import.meta.dirname, 'lists.md'), 'utf8');
const operations = await readOperations(await createTestApp());
/** Parameters of every list, and one that adds a field. */
const NO_FILTERS = ['page', 'per_page', 'after', 'include'];

/** The filters of each list of the OpenAPI document, by the last part of its path. */
const filtersByList = new Map(
  operations.flatMap((operation) => {
    const names = queryOf(operation).map(({ name }) => name);
    if (!operation.path.startsWith('/api/') || !names.includes('per_page')) return [];
    return [[operation.path.slice('/api/'.length), names.filter((name) => !NO_FILTERS.includes(name))]];
  }),
);

const PATHS: Record<string, string[]> = {
  'key pairs': ['organization_applications', 'bank_applications'],
  'key pairs of banks': ['bank_applications'],
  events: ['subscription_events'],
  deliveries: ['subscription_deliveries'],
  'redelivery jobs': ['subscription_recoveries'],
  'requests of an inbox': ['inboxes/{guid}/requests'],
};
PATHS.objects = pathsOf(/^Objects in this table are (.+?)\./ms);

/** "objects but customers and quotes, files" as paths. */
function pathsOf(text: RegExp | string): string[] {
  const words = (typeof text === 'string' ? text : (text.exec(page)?.[1] ?? '')).replaceAll('\n', ' ');
  return words.split(', ').flatMap((part) => {
    const [whole = '', except] = part.split(' but ');
    const lists = whole
      .split(' and ')
      .flatMap((name) => PATHS[name] ?? [name.toLowerCase().replaceAll(' ', '_')]);
    const left = except === undefined ? [] : pathsOf(except);
    return lists.filter((list) => !left.includes(list));
  });
}

test('docs/partners/lists.md names the lists of every filter, as the OpenAPI document has them', () => {
  const rows = page.matchAll(/^\| (`[^|]+`) +\| ([^|]+?) +\| [^|]+\|$/gm);
  const documented = Array.from(rows, ([, names = '', lists = '']) =>
    Array.from(names.matchAll(/`(\w+)`/g), ([, name]) => [name, pathsOf(lists).sort()]),
  ).flat();
  const names = [...new Set([...filtersByList.values()].flat())];
  const listsWith = (name: string) =>
    [...filtersByList].flatMap(([list, own]) => (own.includes(name) ? list : []));
  const existing = Object.fromEntries(names.map((name) => [name, listsWith(name).sort()]));
  assert.ok(documented.length > 30, `${documented.length} filters`);
  assert.deepEqual(Object.fromEntries(documented), existing);
});

test('docs/partners/lists.md names the lists without filters', () => {
  const without = [...filtersByList].filter(([, names]) => names.length === 0).map(([list]) => list);
  assert.deepEqual(pathsOf(/^(Organizations, .+) have no filters\.$/m).sort(), without.sort());
});

test('docs/partners/lists.md names the most values of every filter', () => {
  const filters = operations.filter(({ path }) => path.startsWith('/api/')).flatMap(queryOf);
  const namesWith = (key: 'x-max-values' | 'maxLength', limit: number) =>
    new Set(
      filters
        .filter(({ schema }) => (schema as Record<string, unknown>)[key] === limit)
        .map(({ name }) => name),
    );
  const limitOf = (row: string) => page.split('\n').find((line) => line.startsWith(`| ${row}`));
  assert.match(String(limitOf('guids, states')), /\| 100 values +\|$/);
  assert.ok(namesWith('x-max-values', 100).has('guid'));
  for (const [limit, names] of [
    ['20 values', namesWith('x-max-values', 20)],
    ['512 characters', namesWith('maxLength', 512)],
  ] as const) {
    const row = page.split('\n').find((line) => line.includes(`| ${limit}`)) ?? '';
    assert.deepEqual(new Set(Array.from(row.matchAll(/`(\w+)`/g), ([, name]) => name)), names);
  }
});
