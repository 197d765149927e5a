import { findSections, type SearchEntry } from './find-sections.ts';

/** Loads the index when the field gets the focus. `/` moves the focus there. */
export function enableSearch(): void {
  const input = document.querySelector<HTMLInputElement>('#search');
  const results = document.querySelector<HTMLElement>('#results');
  if (!input || !results) return;
  let index: Promise<SearchEntry[]> | undefined;
  const load = () => {
    index ??= fetch('/guides/search.json').then((response) => response.json());
    return index;
  };
  const close = () => {
    results.hidden = true;
  };
  async function search(query: string): Promise<void> {
    const entries = await load().catch(() => undefined);
    // The reader has typed on.
    if (query !== input?.value || !results) return;
    results.hidden = query.trim() === '';
    results.replaceChildren(
      ...(entries ? listOf(findSections(entries, query)) : [note('The search could not be loaded.')]),
    );
    if (!entries) index = undefined;
  }
  input.addEventListener('focus', () => {
    load().catch(() => {
      index = undefined;
    });
    if (input.value.trim() !== '') results.hidden = false;
  });
  input.addEventListener('input', () => void search(input.value));
  input.parentElement?.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') {
      close();
      input.focus();
    }
    if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
    const stops: HTMLElement[] = [input, ...results.querySelectorAll('a')];
    const at = stops.indexOf(document.activeElement as HTMLElement);
    stops[Math.min(Math.max(at + (event.key === 'ArrowDown' ? 1 : -1), 0), stops.length - 1)]?.focus();
    event.preventDefault();
  });
  document.addEventListener('click', ({ target }) => {
    const isLink = target instanceof Element && target.closest('#results a');
    if (isLink || !input.parentElement?.contains(target as Node)) close();
  });
  document.addEventListener('keydown', (event) => {
    if (event.key !== '/' || event.ctrlKey || event.metaKey || document.activeElement === input) return;
    event.preventDefault();
    input.focus();
  });
}

function listOf(found: readonly SearchEntry[]): HTMLElement[] {
  const count = note(
    found.length === 0
      ? 'No section matches.'
      : found.length === 1
        ? '1 section'
        : `${found.length} sections`,
  );
  if (found.length === 0) return [count];
  const list = document.createElement('ul');
  list.append(
    ...found.map(({ href, page, heading, text }) => {
      const link = Object.assign(document.createElement('a'), { href });
      const title = Object.assign(document.createElement('strong'), { textContent: heading });
      const place = Object.assign(document.createElement('em'), {
        textContent: heading === page ? '' : page,
      });
      const excerpt = Object.assign(document.createElement('span'), { textContent: text });
      link.append(title, place, excerpt);
      const item = document.createElement('li');
      item.append(link);
      return item;
    }),
  );
  return [count, list];
}

function note(textContent: string): HTMLElement {
  const element = Object.assign(document.createElement('p'), { textContent });
  element.role = 'status';
  return element;
}
