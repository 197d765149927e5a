import './guides.css';
import './article.css';
import './search.css';
import { addCopyButtons } from './copy.ts';
import { enableSearch } from './search.ts';
import { enableTabs } from './tabs.ts';
import { enableTheme } from './theme.ts';

enableTheme();
enableTabs();
addCopyButtons();
enableSearch();

/** Beside the text the list of sections is open, above it closed. */
const contents = document.querySelector<HTMLDetailsElement>('.contents details');
const isBeside = matchMedia('(min-width: 78.01em)');
function arrangeContents(): void {
  if (contents) contents.open = isBeside.matches;
}
isBeside.addEventListener('change', arrangeContents);
arrangeContents();

const burger = document.querySelector('.burger');
burger?.addEventListener('click', () => {
  const isOpen = document.body.classList.toggle('menu-open');
  burger.setAttribute('aria-expanded', String(isOpen));
});
