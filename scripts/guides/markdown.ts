import { Marked, type Token, type Tokens } from 'marked';
import { diagramTable } from './diagram.ts';

/** Links to the files of an example. */
export type LinkFolder = (folder: string) => string;
export type RenderedPage = { title: string; description: string; html: string; headings: readonly Heading[] };
export type Heading = { id: string; text: string; depth: number };

/** `folder` has the complete example. */
type Labeled = { label: string; folder: string | undefined; code: Tokens.Code };

/** Renders a page of `docs/partners/` for `/guides`. */
export function renderPage(markdown: string, linkFolder: LinkFolder): RenderedPage {
  const headings: Heading[] = [];
  const marked = createMarked(headings);
  const tokens = marked.lexer(
    markdown.replaceAll(/```mermaid\n(.*?)```\n/gs, (_, text) => diagramTable(text)),
  );
  const [title, audience, ...rest] = tokens.filter(({ type }) => type !== 'space');
  if (title?.type !== 'heading' || audience?.type !== 'paragraph')
    throw new Error('A page begins with its title and a line that says for whom it is.');
  const content = isContents(rest[0]) ? rest.slice(1) : rest;
  const html = `${marked.parser([title, audience])}${renderBlocks(marked, linkFolder, content)}`;
  const repeated = headings.find(({ id }, index) => headings.findIndex((other) => other.id === id) < index);
  if (repeated) throw new Error(`Two sections have the anchor ${repeated.id}.`);
  return {
    title: title.text,
    description: descriptionOf(audience.text),
    html: withScrollableTables(html),
    headings: headings.filter(({ depth }) => depth > 1),
  };
}

/** A list of links to sections, for readers on GitHub: a guide has "On this page". */
function isContents(token: Token | undefined): boolean {
  return token?.type === 'list' && /^(?:[-·\s]*\[[^\]]+\]\(#[\w-]+\))+\s*$/.test(token.raw);
}

/** Anchors as GitHub makes them of headings. */
function anchorOf(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-');
}

function createMarked(headings: Heading[]): Marked {
  const marked = new Marked();
  marked.use({
    renderer: {
      heading({ tokens, text, depth }) {
        const plain = text.replaceAll('`', '');
        const id = anchorOf(plain);
        headings.push({ id, text: plain, depth });
        const content = this.parser.parseInline(tokens);
        if (depth === 1) return `<h1>${content}</h1>\n`;
        const label = `Link to ${escapeHtml(plain)}`;
        return `<h${depth} id="${id}">${content} <a class="anchor" href="#${id}" aria-label="${label}">#</a></h${depth}>\n`;
      },
      link({ href, tokens }) {
        const content = this.parser.parseInline(tokens);
        const address = addressOf(href);
        return address === undefined ? content : `<a href="${escapeHtml(address)}">${content}</a>`;
      },
      // A form control without a label; the list is read, not filled in.
      checkbox: () => '<span class="checkbox"></span>',
      code: ({ text, lang }) => renderCode(text, lang ?? ''),
      // Only comments: they name the file of a snippet.
      html: () => '',
    },
  });
  return marked;
}

/** Undefined for files of the repository that are no guides. */
function addressOf(href: string): string | undefined {
  if (/^(https?:|#)/.test(href)) return href;
  const [, name, anchor = ''] = /^([\w-]+)\.md(#.*)?$/.exec(href) ?? [];
  return name === undefined ? undefined : `/guides/${name}${anchor}`;
}

/** Blocks of code with a bold name each, one after another, are alternatives: the reader chooses one. */
function renderBlocks(marked: Marked, linkFolder: LinkFolder, tokens: readonly Token[]): string {
  const parts: string[] = [];
  for (let index = 0; index < tokens.length; ) {
    const alternatives: Labeled[] = [];
    for (let one = labeledAt(tokens, index); one; one = labeledAt(tokens, index + 2 * alternatives.length))
      alternatives.push(one);
    if (alternatives.length > 1) parts.push(renderTabs(alternatives, linkFolder));
    else parts.push(marked.parser([tokens[index] as Token]));
    index += alternatives.length > 1 ? 2 * alternatives.length : 1;
  }
  return parts.join('');
}

function labeledAt(tokens: readonly Token[], index: number): Labeled | undefined {
  const [name, code] = [tokens[index], tokens[index + 1]];
  if (name?.type !== 'paragraph' || code?.type !== 'code') return undefined;
  const [, label, folder] = /^\*\*([^*]+)\*\*(?: <!-- ([\w./-]+)\/[^/]+ -->)?$/.exec(name.text) ?? [];
  return label === undefined ? undefined : { label, folder, code: code as Tokens.Code };
}

function renderTabs(alternatives: readonly Labeled[], linkFolder: LinkFolder): string {
  const panels = alternatives.map(({ label, folder, code }) => {
    const name = escapeHtml(label);
    const source =
      folder === undefined ? '' : `<p class="complete">Complete server: ${linkFolder(folder)}</p>`;
    return `<section data-tab="${name}"><p class="tab-name">${name}</p>${renderCode(code.text, code.lang ?? '')}${source}</section>`;
  });
  return `<div class="tabs">${panels.join('\n')}</div>\n`;
}

function renderCode(text: string, language: string): string {
  const label = language === '' ? 'Code' : `Code: ${language}`;
  return `<div class="code"><pre tabindex="0" role="region" aria-label="${label}"><code>${escapeHtml(text)}</code></pre></div>\n`;
}

/** Wide tables scroll by themselves, and must be focusable for the keyboard. */
function withScrollableTables(html: string): string {
  return html
    .replaceAll('<table>', '<div class="table" tabindex="0" role="region" aria-label="Table"><table>')
    .replaceAll('</table>', '</table></div>');
}

/** The part after the colon of "For developers: do this." */
function descriptionOf(audience: string): string {
  const what = audience.replaceAll(/\[([^\]]+)\]\([^)]*\)/g, '$1').replace(/^For [^:]+: /s, '');
  return what.charAt(0).toUpperCase() + what.slice(1);
}

export function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
