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

const burger = document.querySelector('.burger');
burger?.addEventListener('click', () => {
  const isOpen = document.body.classList.toggle('menu-open');
  burger.setAttribute('aria-expanded', String(isOpen));
});
