import { useEffect, useState } from 'react';

/**
 * For a dialog that is mounted when it opens: after it is closed, its opener has the focus again. Mantine does this only
 * for dialogs that stay mounted.
 */
export function useReturnFocus(): void {
  const [opener] = useState(findOpener);
  useEffect(
    () => () => {
      // Anything else has taken the focus on purpose.
      if (document.activeElement === document.body) opener?.focus({ preventScroll: true });
    },
    [opener],
  );
}

/** For an item of a menu, which closes, the button of that menu. */
function findOpener(): HTMLElement | null {
  const focused = document.activeElement;
  const button = focused?.closest('[role=menu]')?.getAttribute('aria-labelledby');
  if (button) return document.getElementById(button);
  return focused instanceof HTMLElement ? focused : null;
}
