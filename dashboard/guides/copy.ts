const SHOWN_MS = 2_000;

export function addCopyButtons(): void {
  for (const block of document.querySelectorAll<HTMLElement>('.code')) {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'copy';
    button.textContent = 'Copy';
    // Announces the change of its text.
    button.setAttribute('aria-live', 'polite');
    button.addEventListener('click', async () => {
      const text = block.querySelector('code')?.textContent ?? '';
      button.textContent = await copy(text).then(
        () => 'Copied',
        () => 'Press Ctrl+C',
      );
      if (button.textContent !== 'Copied')
        getSelection()?.selectAllChildren(block.querySelector('code') as Node);
      setTimeout(() => {
        button.textContent = 'Copy';
      }, SHOWN_MS);
    });
    block.append(button);
  }
}

/** Browsers have no clipboard on pages without HTTPS, apart from localhost. */
async function copy(text: string): Promise<void> {
  await navigator.clipboard.writeText(text);
}
