import { type ShouldBlockFn, useBlocker } from '@tanstack/react-router';
import { createContext, use, useCallback, useEffect, useMemo, useState } from 'react';
import { notifyBlocked } from '../shared/feedback/notify.ts';

/** Whether something is shown that must stay; `count` tells of each such thing, up and down. */
type Keep = { isFrozen: boolean; count: (change: 1 | -1) => void };

export const FreezeContext = createContext<Keep>({ isFrozen: false, count: () => undefined });

/** Keeps the page while leaving it would lose something; whoever tries to leave is told why they cannot. */
export function useNavigationGuard(
  held: boolean,
  why: string,
  /** Which ways lead away from it; without it, all of them. */
  isAway: (way: Parameters<ShouldBlockFn>[0]) => boolean = () => true,
): void {
  useBlocker({
    shouldBlockFn: (way) => {
      if (!isAway(way)) return false;
      notifyBlocked(why);
      return true;
    },
    enableBeforeUnload: held,
    disabled: !held,
  });
  useFreeze(held);
}

/** Keeps it from ending with what it stands in; the person may still leave it. */
export function useFreeze(kept: boolean): void {
  const { count } = use(FreezeContext);
  useEffect(() => {
    if (!kept) return;
    count(1);
    return () => count(-1);
  }, [kept, count]);
}

/** For `KeepContext`: of everything below it. */
export function useFreezeState(): Keep {
  const [things, setThings] = useState(0);
  const count = useCallback((change: 1 | -1) => setThings((before) => before + change), []);
  const isFrozen = things > 0;
  return useMemo(() => ({ isFrozen, count }), [isFrozen, count]);
}

/** The value as it was when the first thing had to stay, until none has to. */
export function useFrozen<Value>(value: Value, isFrozen: boolean): Value {
  const [last, setLast] = useState(value);
  if (!isFrozen && last !== value) setLast(value);
  return isFrozen ? last : value;
}
