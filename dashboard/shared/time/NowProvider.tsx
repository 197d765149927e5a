import { createContext, type ReactNode, use, useEffect, useState } from 'react';
import { TimeFormProvider } from './time-form.tsx';

const TICK_MS = 5_000;

const NowContext = createContext(0);

/** One timer updates all relative times of the page, and one setting decides their form. */
export function NowProvider({ children }: { children: ReactNode }) {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), TICK_MS);
    return () => clearInterval(timer);
  }, []);
  return (
    <NowContext value={now}>
      <TimeFormProvider>{children}</TimeFormProvider>
    </NowContext>
  );
}

export function useNow(): number {
  return use(NowContext);
}
