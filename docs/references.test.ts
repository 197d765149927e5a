import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { test } from 'node:test';
import { createMetrics } from '../server/infrastructure/runtime/metrics.ts';

/** References of the Markdown files exist, under the name that they use. */
const ROOT = join(import.meta.dirname, '..');
const PAGES = globSync('{*.md,docs/**/*.md,{server,examples}/**/README.md}', { cwd: ROOT }).map((file) =>
  join(ROOT, file),
);

function read(page: string): string {
  return readFileSync(page, 'utf8');
}

function withoutCode(text: string): string {
  return text.replaceAll(/^ *```.*?^ *```/gms, '');
}

/** Anchors as GitHub makes them of headings: lowercase, without punctuation, with dashes. */
function anchorsOf(page: string): Set<string> {
  const headings = withoutCode(read(page)).matchAll(/^#+ (.+)$/gm);
  const anchors = Array.from(headings, ([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  );
  return new Set(anchors);
}

/** The production sources below a folder, as one text. */
function sourcesOf(folder: string): string {
  const files = globSync('**/*.ts', { cwd: join(ROOT, folder), exclude: ['**/*.test.ts'] });
  return files.map((file) => read(join(ROOT, folder, file))).join('\n');
}

test('every page says in its first line for whom it is', () => {
  const silent = PAGES.filter((page) => !/^# [^\n]+\n\nFor [^\n]+[.]\n\n/.test(read(page)));
  assert.deepEqual(
    silent.map((page) => relative(ROOT, page)),
    [],
  );
});

test('every relative link and anchor resolves', () => {
  assert.ok(PAGES.length >= 20);
  const broken = PAGES.flatMap((page) =>
    [...withoutCode(read(page)).matchAll(/\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)/g)]
      .filter(([, path = '', anchor]) => {
        const target = path === '' ? page : join(dirname(page), path);
        return !existsSync(target) || (anchor !== undefined && !anchorsOf(target).has(anchor));
      })
      .map(([link]) => `${relative(ROOT, page)}: ${link}`),
  );
  assert.deepEqual(broken, []);
});

test('every page can be reached from the README', () => {
  const reached = new Set([join(ROOT, 'README.md')]);
  for (const page of reached)
    for (const [, path = ''] of withoutCode(read(page)).matchAll(/\]\((?!https?:)([^)#]+\.md)(?:#[^)]*)?\)/g))
      reached.add(join(dirname(page), path));
  assert.deepEqual(
    PAGES.filter((page) => !reached.has(page)).map((page) => relative(ROOT, page)),
    [],
  );
});

test('every source file and folder that a page for contributors names exists', () => {
  const isPath = /^[\w-]+\/(?:[\w-]+\/)*(?:[\w-]+\/|[\w.-]+\.(?:tsx?|sql))$/;
  const bases = ['', 'server', 'dashboard'].map((base) => join(ROOT, base));
  const pages = PAGES.filter((page) => /contributors|CONTRIBUTING/.test(page));
  const missing = pages.flatMap((page) =>
    Array.from(withoutCode(read(page)).matchAll(/`([^`\s]+)`/g), ([, name = '']) => name)
      .filter((name) => isPath.test(name) && !bases.some((base) => existsSync(join(base, name))))
      .map((name) => `${relative(ROOT, page)}: ${name}`),
  );
  assert.deepEqual(missing, []);
});

test('docs/contributors/limits.md names only constants that exist in their folder', () => {
  const sections = read(join(ROOT, 'docs/contributors/limits.md')).split(/^## /m).slice(1);
  assert.ok(sections.length > 15);
  const missing = sections.flatMap((section) => {
    const [, folder = ''] = /^`([\w/-]+)`/.exec(section) ?? [];
    const sources = sourcesOf(join('server', folder));
    const rows = [...section.matchAll(/^\| [^|]+ \| ([^|]+) \|/gm)].slice(2);
    return rows
      .flatMap(([, constants = '']) => [...constants.matchAll(/`([A-Z][A-Z0-9_]+)`/g)])
      .map(([, name]) => name)
      .filter((name) => !new RegExp(`\\b${name}\\b`).test(sources))
      .map((name) => `${name} in ${folder}`);
  });
  assert.deepEqual(missing, []);
});

test('docs/operators/monitoring.md names every metric, and none that does not exist', async () => {
  const rows = read(join(ROOT, 'docs/operators/monitoring.md')).matchAll(
    /^\| `(portico_\w+)`(?: \(\w+\))? +\| [^|]*\| [^|]*\|$/gm,
  );
  const documented = new Set(Array.from(rows, ([, name]) => name));
  const text = await createMetrics().read();
  const existing = new Set(Array.from(text.matchAll(/^# TYPE (portico_\w+)/gm), ([, name]) => name));
  assert.deepEqual([...documented].sort(), [...existing].sort());
});

test('docs/operators/monitoring.md quotes only log messages that exist', () => {
  const [, log = ''] = read(join(ROOT, 'docs/operators/monitoring.md')).split('| Message ');
  const messages = Array.from(log.matchAll(/^\| `([^`]+)` +\| `\w+` +\|/gm), ([, message = '']) => message);
  assert.ok(messages.length > 5);
  const sources = sourcesOf('server');
  assert.deepEqual(
    messages.filter((message) => !sources.includes(message)),
    [],
  );
});
