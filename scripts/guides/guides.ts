import { globSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { SearchEntry } from '../../dashboard/guides/find-sections.ts';
import { GUIDE_GROUPS } from '../../dashboard/guides/pages.ts';
import { escapeHtml, type Heading, type RenderedPage, renderPage } from './markdown.ts';

/** The files of `/guides`: one page of HTML for each page of `docs/partners/`, a page that lists them, the search index. */
type Page = RenderedPage & { name: string };
type Group = { title: string; pages: readonly Page[] };

const HOME = 'index';
const INTRODUCTION = 'Build on Portico: keys, tokens, webhooks, files and the sandbox.';

/** `template` is `dashboard/guides.html` as built. Returns the texts by their path below `/guides`. */
export async function renderGuides(root: string, template: string): Promise<Map<string, string>> {
  const groups: Group[] = await Promise.all(
    GUIDE_GROUPS.map(async ({ title, pages }) => ({
      title,
      pages: await Promise.all(pages.map((name) => readPage(root, name))),
    })),
  );
  const pages = groups.flatMap((group) => group.pages);
  const files = new Map<string, string>();
  for (const page of pages)
    files.set(
      `${page.name}.html`,
      fill(template, {
        ...{ title: `${page.title} · Portico`, description: page.description },
        ...{ menu: menuOf(groups, page.name), content: page.html + neighbours(pages, page) },
        contents: contentsOf(page.headings),
      }),
    );
  files.set(
    `${HOME}.html`,
    fill(template, {
      ...{ title: 'Guides · Portico', description: INTRODUCTION, menu: menuOf(groups, HOME) },
      ...{ content: homeOf(groups), contents: '' },
    }),
  );
  files.set('search.json', JSON.stringify(pages.flatMap(searchEntries)));
  for (const name of examplesOf(root, 'examples/receivers/*'))
    files.set(name, await readFile(join(root, 'examples', name), 'utf8'));
  return files;
}

/** The files of examples, below `examples/`. */
function examplesOf(root: string, folder: string): string[] {
  const names = globSync(`${folder}/*.{ts,py,go,rb,php,java,cs,csproj}`, {
    cwd: root,
    exclude: ['**/*.test.ts'],
  });
  return names.map((name) => name.replaceAll('\\', '/').replace('examples/', '')).sort();
}

async function readPage(root: string, name: string): Promise<Page> {
  const file = join(root, 'docs', 'partners', `${name}.md`);
  const linkFolder = (folder: string) =>
    examplesOf(root, folder)
      .map((path) => `<a href="/guides/${path}">${path.split('/').at(-1)}</a>`)
      .join(', ');
  try {
    return { name, ...renderPage(await readFile(file, 'utf8'), linkFolder) };
  } catch (error) {
    throw new Error(`${file}: ${(error as Error).message}`);
  }
}

function fill(template: string, values: Readonly<Record<string, string>>): string {
  const texts = {
    ...values,
    title: escapeHtml(values.title ?? ''),
    description: escapeHtml(values.description ?? ''),
  };
  return Object.entries(texts).reduce(
    (html, [name, value]) => html.replace(`{{${name}}}`, () => value),
    template,
  );
}

function menuOf(groups: readonly Group[], current: string): string {
  const item = (href: string, title: string, isCurrent: boolean) =>
    `<li><a href="${href}"${isCurrent ? ' aria-current="page"' : ''}>${escapeHtml(title)}</a></li>`;
  const lists = groups.map(({ title, pages }) => {
    const items = pages.map((page) => item(`/guides/${page.name}`, page.title, page.name === current));
    return `<p class="group">${escapeHtml(title)}</p><ul>${items.join('')}</ul>`;
  });
  return `<ul>${item('/guides', 'All guides', current === HOME)}</ul>${lists.join('')}`;
}

function contentsOf(headings: readonly Heading[]): string {
  const shown = headings.filter(({ depth }) => depth <= 3);
  if (shown.length < 2) return '';
  const items = shown.map(
    ({ id, text, depth }) => `<li data-depth="${depth}"><a href="#${id}">${escapeHtml(text)}</a></li>`,
  );
  return `<nav class="contents" aria-label="On this page"><details><summary>On this page</summary><ul>${items.join('')}</ul></details></nav>`;
}

function neighbours(pages: readonly Page[], page: Page): string {
  const index = pages.indexOf(page);
  const link = (other: Page | undefined, rel: 'prev' | 'next', label: string) =>
    other
      ? `<a rel="${rel}" href="/guides/${other.name}"><span>${label}</span>${escapeHtml(other.title)}</a>`
      : '<span></span>';
  const links = [link(pages[index - 1], 'prev', 'Previous'), link(pages[index + 1], 'next', 'Next')];
  return `<nav class="neighbours" aria-label="Other guides">${links.join('')}</nav>`;
}

function homeOf(groups: readonly Group[]): string {
  const sections = groups.map(({ title, pages }) => {
    const cards = pages.map(
      (page) =>
        `<li><a href="/guides/${page.name}"><strong>${escapeHtml(page.title)}</strong><span>${escapeHtml(page.description.replaceAll('`', ''))}</span></a></li>`,
    );
    return `<h2>${escapeHtml(title)}</h2><ul class="cards">${cards.join('')}</ul>`;
  });
  return `<h1>Guides</h1><p>${INTRODUCTION} The <a href="/docs/">API reference</a> describes every call, and a <a href="/postman.json">collection for Postman and Bruno</a> makes them.</p>${sections.join('')}`;
}

/** One entry for each section: what is above the first heading belongs to the page. */
function searchEntries({ name, title, html }: Page): SearchEntry[] {
  const [beginning = '', ...parts] = html.split(/(?=<h[23] id=)/);
  const entry = (anchor: string, heading: string, content: string) => ({
    ...{ href: `/guides/${name}${anchor}`, page: title, heading },
    text: textOf(content).slice(heading.length).trim(),
  });
  return [
    entry('', title, beginning),
    ...parts.map((part) => {
      const [head = '', id = '', content = ''] =
        /^<h[23] id="([^"]+)">(.*?) <a class="anchor".*?<\/h[23]>/.exec(part) ?? [];
      return entry(`#${id}`, textOf(content), `${content} ${part.slice(head.length)}`);
    }),
  ];
}

function textOf(html: string): string {
  return html
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&')
    .replaceAll(/\s+/g, ' ')
    .trim();
}
