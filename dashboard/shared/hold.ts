import { useBlocker } from '@tanstack/react-router';
import { createContext, use, useCallback, useEffect, useState } from 'react';

/** Counts what is shown and must stay, up and down. */
export const KeepContext = createContext<(change: 1 | -1) => void>(() => undefined);

/** Keeps the page while it is about to get, or shows, what nobody can get again: going back or away would lose it. */
export function useHold(held: boolean): void {
  useBlocker({ shouldBlockFn: () => true, enableBeforeUnload: held, disabled: !held });
  useKeep(held);
}

/** Keeps it from ending with the session; the person may still leave it. */
export function useKeep(kept: boolean): void {
  const count = use(KeepContext);
  useEffect(() => {
    if (!kept) return;
    count(1);
    return () => count(-1);
  }, [kept, count]);
}

/** The value as it was when the first thing had to stay, until none has to; `count` is for `KeepContext`. */
export function useKept<Value>(value: Value): { kept: Value; count: (change: 1 | -1) => void } {
  const [things, setThings] = useState(0);
  const [last, setLast] = useState(value);
  const count = useCallback((change: 1 | -1) => setThings((before) => before + change), []);
  if (things === 0 && last !== value) setLast(value);
  return { kept: things === 0 ? value : last, count };
}
