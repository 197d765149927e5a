import { createContext, type ReactNode, use, useEffect, useState } from 'react';

const TICK_MS = 5_000;

const NowContext = createContext(0);

/** One clock for every "3 minutes ago" of the page, so that they all move together. */
export function NowProvider({ children }: { children: ReactNode }) {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), TICK_MS);
    return () => clearInterval(timer);
  }, []);
  return <NowContext value={now}>{children}</NowContext>;
}

export function useNow(): number {
  return use(NowContext);
}
