import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { findSections, type SearchEntry } from '../../dashboard/guides/find-sections.ts';
import { GUIDE_GROUPS } from '../../dashboard/guides/pages.ts';
import { withSigningKey } from '../../dashboard/shared/verification/signing-key-lines.ts';
import { diagramTable } from './diagram.ts';
import { renderGuides } from './guides.ts';
import { filesOfSnippets, readVerificationSnippets, withSnippets } from './snippets.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const TEMPLATE =
  '<title>{{title}}</title>{{description}}<nav>{{menu}}</nav><main>{{content}}</main>{{contents}}';
const LANGUAGES = ['typescript', 'python', 'go', 'ruby', 'php', 'java', 'csharp'];

const files = await renderGuides(ROOT, TEMPLATE);
const pages = new Map([...files].filter(([name]) => name.endsWith('.html')));
const index = JSON.parse(files.get('search.json') ?? '') as SearchEntry[];

/** Every address below `/guides`, with the anchors of pages. */
const addresses = new Set(
  [...files].flatMap(([name, html]) => {
    const path = `/guides/${name}`.replace(/(\/index)?\.html$/, '');
    return [path, ...Array.from(html.matchAll(/<h[23] id="([^"]+)"/g), ([, id]) => `${path}#${id}`)];
  }),
);

test('every page of docs/partners is in the menu', () => {
  const written = globSync('docs/partners/*.md', { cwd: ROOT }).map((file) => basename(file, '.md'));
  assert.deepEqual(GUIDE_GROUPS.flatMap(({ pages }) => [...pages] as string[]).sort(), written.sort());
});

test('the snippets are the regions of the examples; update them with node scripts/print-snippets.ts', async () => {
  const page = await readFile(join(ROOT, 'docs', 'partners', 'webhooks.md'), 'utf8');
  assert.equal(page, withSnippets(ROOT, page));
  assert.deepEqual(
    filesOfSnippets(page).map((file) => file.split('/')[2]),
    LANGUAGES,
  );
});

test('the dashboard has the snippets, a line for the key of each language, and links to the complete servers', () => {
  const snippets = readVerificationSnippets(ROOT);
  assert.equal(snippets.length, LANGUAGES.length);
  for (const snippet of snippets) {
    const { language, path, imports = '', code } = snippet;
    const text = withSigningKey(snippet, 'the key');
    assert.ok(text.startsWith(imports) && text.includes('the key') && text.endsWith(code), language);
    assert.equal(imports === '', language === 'PHP', language);
    assert.ok(files.has(path), path);
  }
});

test('every link between guides and from the dashboard resolves', () => {
  const links = [...pages].flatMap(([name, html]) =>
    Array.from(html.matchAll(/href="([^"]+)"/g), ([, href = '']) =>
      href.startsWith('#') ? `/guides/${basename(name, '.html')}${href}` : href,
    ),
  );
  const sources = globSync('dashboard/**/*.tsx', { cwd: ROOT, exclude: ['dashboard/build'] });
  const named = sources.flatMap((file) => [
    ...Array.from(
      readFileSync(join(ROOT, file), 'utf8').matchAll(/ guide="([^"]+)"/g),
      ([, page]) => `/guides/${page}`,
    ),
    ...Array.from(
      readFileSync(join(ROOT, file), 'utf8').matchAll(/"(\/guides[^"]*)"/g),
      ([, href = '']) => href,
    ),
  ]);
  assert.ok(named.length > 5);
  const others = /^(https:\/\/|\/docs\/$|\/postman\.json$|\/$)/;
  const broken = [...links, ...named].filter((href) => !addresses.has(href) && !others.test(href));
  assert.deepEqual([...new Set(broken)], []);
});

test('the checklist for going live has the steps of the dashboard, in their order', async () => {
  const [guide, dashboard] = await Promise.all(
    ['docs/partners/going-live.md', 'dashboard/pages/organization/use-going-live.ts'].map((file) =>
      readFile(join(ROOT, file), 'utf8'),
    ),
  );
  const written = Array.from(guide?.matchAll(/^\d\. \*\*([^*]+?)\.?\*\*/gm) ?? [], ([, title]) => title);
  const shown = Array.from(dashboard?.matchAll(/ title: '([^']+)'/g) ?? [], ([, title]) => title);
  assert.ok(shown.length > 5);
  assert.deepEqual(written, shown);
});

test('a page has one list of its sections', () => {
  const webhooks = pages.get('webhooks.html') ?? '';
  assert.equal(webhooks.split('href="#read-attempts"').length, 3, 'in the list, and beside the heading');
  assert.match(webhooks, /<nav class="contents".*href="#read-attempts"/);
});

test('pages are complete, and load nothing from elsewhere', () => {
  for (const [name, html] of pages) {
    assert.doesNotMatch(html, /\{\{\w+\}\}|stateDiagram|<script|<img|<!--|style="/, name);
    assert.match(html, /<h1>/, name);
  }
});

test('code in several languages becomes alternatives with links to the complete servers', () => {
  const webhooks = pages.get('webhooks.html') ?? '';
  const names = Array.from(webhooks.matchAll(/data-tab="([^"]+)"/g), ([, name]) => name);
  assert.deepEqual(names.slice(0, 7), ['TypeScript', 'Python', 'Go', 'Ruby', 'PHP', 'Java', 'C#']);
  for (const language of LANGUAGES)
    assert.match(webhooks, new RegExp(`href="/guides/receivers/${language}/`));
  assert.ok(files.get('receivers/go/receiver.go')?.startsWith('// Run: '));
});

test('a state diagram becomes a table', () => {
  const diagram =
    'stateDiagram-v2\n  [*] --> storing: POST\n  storing --> completed\n  storing --> failed\n  failed --> [*]\n';
  assert.deepEqual(diagramTable(diagram).split('\n').slice(2), [
    '| start | `storing` (POST) |',
    '| `storing` | `completed`, `failed` |',
    '| `failed` | end |',
    '',
  ]);
});

test('the search finds error codes, headings and several words', () => {
  const hrefs = (query: string) => findSections(index, query).map(({ href }) => href);
  assert.ok(hrefs('ip_not_allowed').length > 0);
  assert.equal(hrefs('roll signing key')[0], '/guides/rolling-keys');
  assert.equal(hrefs('Idempotency secrets')[0], '/guides/repeated-requests#secrets');
  assert.ok(hrefs('retry').includes('/guides/webhooks#retries'));
  for (const [query, href] of [
    ['whitelist', 'authentication#ip-allowlist'],
    ['pagination', 'lists#pages'],
    ['resend', 'webhooks#after-an-outage'],
    ['2FA', 'authentication#roles-of-people'],
    ['429', 'errors'],
    ['portico-inbox', 'webhooks#inbox'],
  ] as const)
    assert.equal(hrefs(query)[0], `/guides/${href}`, query);
  assert.ok(!hrefs('401').includes('/guides/quickstart#sdk'), 'not port 4010');
  assert.deepEqual(hrefs('(x'), []);
  assert.deepEqual(hrefs('  '), []);
  assert.deepEqual(hrefs('zebra'), []);
  for (const { href, text } of findSections(index, 'retry')) {
    assert.ok(addresses.has(href), href);
    assert.ok(text.length < 200, text);
  }
});
