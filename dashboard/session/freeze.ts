import { createContext, use, useCallback, useEffect, useMemo, useState } from 'react';

/** While a one-time secret is shown, a session that ends or data that reloads must not unmount it. */
type Freeze = { isFrozen: boolean; count: (change: 1 | -1) => void };

export const FreezeContext = createContext<Freeze>({ isFrozen: false, count: () => undefined });

/** Freezes the session data of the page while `active`. */
export function useFreeze(active: boolean): void {
  const { count } = use(FreezeContext);
  useEffect(() => {
    if (!active) return;
    count(1);
    return () => count(-1);
  }, [active, count]);
}

/** The value for `FreezeContext`. */
export function useFreezeState(): Freeze {
  const [holders, setHolders] = useState(0);
  const count = useCallback((change: 1 | -1) => setHolders((before) => before + change), []);
  const isFrozen = holders > 0;
  return useMemo(() => ({ isFrozen, count }), [isFrozen, count]);
}

/** The value as it was when the freeze began; the current value otherwise. */
export function useFrozen<Value>(value: Value, isFrozen: boolean): Value {
  const [last, setLast] = useState(value);
  if (!isFrozen && last !== value) setLast(value);
  return isFrozen ? last : value;
}
