/** The language that the reader chose last, on every page. */
const KEY = 'portico.guide-language';

/** Makes tabs of alternatives. Without this script they stand below each other, each with its name. */
export function enableTabs(): void {
  const groups = [...document.querySelectorAll<HTMLElement>('.tabs')].map((element, index) =>
    createTabs(element, index),
  );
  const choose = (name: string) => {
    localStorage.setItem(KEY, name);
    for (const group of groups) group.select(name);
  };
  for (const group of groups) group.onChoose(choose);
  const remembered = localStorage.getItem(KEY);
  if (remembered !== null) for (const group of groups) group.select(remembered);
}

function createTabs(element: HTMLElement, index: number) {
  const panels = [...element.querySelectorAll<HTMLElement>('[data-tab]')];
  const list = document.createElement('div');
  list.role = 'tablist';
  list.ariaLabel = 'Language';
  const tabs = panels.map((panel, position) => {
    const tab = document.createElement('button');
    tab.type = 'button';
    tab.role = 'tab';
    tab.id = `tab-${index}-${position}`;
    tab.textContent = panel.dataset.tab ?? '';
    panel.id = `panel-${index}-${position}`;
    panel.role = 'tabpanel';
    panel.setAttribute('aria-labelledby', tab.id);
    tab.setAttribute('aria-controls', panel.id);
    return tab;
  });
  list.append(...tabs);
  element.prepend(list);

  function show(chosen: number): void {
    for (const [position, tab] of tabs.entries()) {
      tab.ariaSelected = String(position === chosen);
      tab.tabIndex = position === chosen ? 0 : -1;
      (panels[position] as HTMLElement).hidden = position !== chosen;
    }
  }
  show(0);

  return {
    /** Groups without this name keep their choice. */
    select(name: string): void {
      const position = panels.findIndex((panel) => panel.dataset.tab === name);
      if (position >= 0) show(position);
    },
    onChoose(choose: (name: string) => void): void {
      for (const [position, tab] of tabs.entries()) {
        tab.addEventListener('click', () => choose(tab.textContent ?? ''));
        tab.addEventListener('keydown', ({ key }) => {
          const step = key === 'ArrowRight' ? 1 : key === 'ArrowLeft' ? -1 : 0;
          const next = tabs.at((position + step) % tabs.length);
          if (step === 0 || !next) return;
          choose(next.textContent ?? '');
          next.focus();
        });
      }
    },
  };
}
