import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { test } from 'node:test';
import { createMetrics } from '../server/infrastructure/runtime/metrics.ts';

/** What the documents point to is there, under the name that they use. */
const ROOT = join(import.meta.dirname, '..');
const PAGES = globSync('{*.md,docs/*.md}', { cwd: ROOT }).map((file) => join(ROOT, file));

function read(page: string): string {
  return readFileSync(page, 'utf8');
}

/** As the place where it is read makes an anchor of a heading: lowercase, without punctuation, with dashes. */
function anchorsOf(page: string): Set<string> {
  const headings = read(page)
    .replaceAll(/```.*?```/gs, '')
    .matchAll(/^#+ (.+)$/gm);
  const anchors = Array.from(headings, ([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  );
  return new Set(anchors);
}

test('every link leads somewhere', () => {
  assert.ok(PAGES.length >= 7);
  const broken = PAGES.flatMap((page) =>
    [...read(page).matchAll(/\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)/g)]
      .filter(([, path = '', anchor]) => {
        const target = path === '' ? page : join(dirname(page), path);
        return !existsSync(target) || (anchor !== undefined && !anchorsOf(target).has(anchor));
      })
      .map(([link]) => `${relative(ROOT, page)}: ${link}`),
  );
  assert.deepEqual(broken, []);
});

test('every constant of the limits is where the architecture says it is', () => {
  const limits = read(join(ROOT, 'docs', 'architecture.md')).split('## Limits')[1] ?? '';
  const rows = [...limits.matchAll(/^\| [^|]+ \| (`[A-Z][^|]+`) +\| [^|]+ \| `([\w/.-]+\.ts)`/gm)];
  assert.ok(rows.length > 50, 'the table was found');
  const missing = rows.flatMap(([, names = '', file = '']) => {
    const source = read(join(ROOT, 'server', file));
    return [...names.matchAll(/`(\w+)`/g)]
      .filter(([, name]) => !new RegExp(`\\b${name}\\b`).test(source))
      .map(([, name]) => `${name} in ${file}`);
  });
  assert.deepEqual(missing, []);
});

test('docs/operating.md names every metric, and none that does not exist', async () => {
  const rows = read(join(ROOT, 'docs', 'operating.md')).matchAll(/^\| `(portico_\w+)`(?: \(\w+\))? +\| /gm);
  const documented = new Set(Array.from(rows, ([, name]) => name));
  const text = await createMetrics().read();
  const existing = new Set(Array.from(text.matchAll(/^# TYPE (portico_\w+)/gm), ([, name]) => name));
  assert.deepEqual([...documented].sort(), [...existing].sort());
});
