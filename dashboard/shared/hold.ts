import { useBlocker } from '@tanstack/react-router';

/** Keeps the page while it is about to get, or shows, what nobody can get again: going back or away would lose it. */
export function useHold(held: boolean): void {
  useBlocker({ shouldBlockFn: () => true, enableBeforeUnload: held, disabled: !held });
}
