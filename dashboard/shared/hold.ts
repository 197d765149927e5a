import { type ShouldBlockFn, useBlocker } from '@tanstack/react-router';
import { createContext, use, useCallback, useEffect, useMemo, useState } from 'react';
import { tellHeld } from './notify.ts';

/** Whether something is shown that must stay; `count` tells of each such thing, up and down. */
type Keep = { isKept: boolean; count: (change: 1 | -1) => void };

export const KeepContext = createContext<Keep>({ isKept: false, count: () => undefined });

/** Keeps the page while leaving it would lose something; whoever tries to leave is told why they cannot. */
export function useHold(
  held: boolean,
  why: string,
  /** Which ways lead away from it; without it, all of them. */
  isAway: (way: Parameters<ShouldBlockFn>[0]) => boolean = () => true,
): void {
  useBlocker({
    shouldBlockFn: (way) => {
      if (!isAway(way)) return false;
      tellHeld(why);
      return true;
    },
    enableBeforeUnload: held,
    disabled: !held,
  });
  useKeep(held);
}

/** Keeps it from ending with what it stands in; the person may still leave it. */
export function useKeep(kept: boolean): void {
  const { count } = use(KeepContext);
  useEffect(() => {
    if (!kept) return;
    count(1);
    return () => count(-1);
  }, [kept, count]);
}

/** For `KeepContext`: of everything below it. */
export function useKeeper(): Keep {
  const [things, setThings] = useState(0);
  const count = useCallback((change: 1 | -1) => setThings((before) => before + change), []);
  const isKept = things > 0;
  return useMemo(() => ({ isKept, count }), [isKept, count]);
}

/** The value as it was when the first thing had to stay, until none has to. */
export function useKept<Value>(value: Value, isKept: boolean): Value {
  const [last, setLast] = useState(value);
  if (!isKept && last !== value) setLast(value);
  return isKept ? last : value;
}
