import { createContext, type ReactNode, use, useEffect, useState } from 'react';

const TICK_MS = 5_000;

const NowContext = createContext(0);

/** One timer updates all relative times of the page. */
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
