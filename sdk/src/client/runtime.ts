/** What the client needs of its environment; tests replace it. */
export type Runtime = {
  fetch(url: string, init: RequestInit): Promise<Response>;
  /** The present time in ms. */
  now(): number;
  /** Runs the action later, unless the returned function is called before. */
  after(ms: number, action: () => void): () => unknown;
  /** From 0 to 1. */
  random(): number;
};

/** 24 days; a longer timer, such as that of `Infinity`, would end at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export const systemRuntime: Runtime = {
  // Not the function itself: `fetch` of some runtimes needs its own `this`, and tools replace it later.
  fetch: (url, init) => fetch(url, init),
  now: Date.now,
  after(ms, action) {
    const timer = setTimeout(action, Math.min(ms, MAX_TIMER_MS));
    return () => clearTimeout(timer);
  },
  random: Math.random,
};

export async function sleep(ms: number, runtime: Runtime, signal: AbortSignal | undefined): Promise<void> {
  let stop = (): unknown => undefined;
  const slept = new Promise<void>((resolve) => {
    stop = runtime.after(ms, resolve);
  });
  await abortable(slept, signal).finally(stop);
}

/** Rejects with the signal's reason when it is aborted; the promise itself goes on. */
export async function abortable<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return promise;
  let stop = (): void => undefined;
  const aborted = new Promise<never>((_, reject) => {
    const listener = () => reject(signal.reason);
    if (signal.aborted) listener();
    signal.addEventListener('abort', listener);
    stop = () => signal.removeEventListener('abort', listener);
  });
  return Promise.race([aborted, promise]).finally(stop);
}
