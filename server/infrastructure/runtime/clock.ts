/** Passed in everywhere, so that tests control time. */
export type Clock = { now(): Date };

/** `after` returns a function that cancels the timer. */
export type Timers = { after(ms: number, action: () => void): () => void };

export const systemClock: Clock = { now: () => new Date() };

export const systemTimers: Timers = {
  after(ms, action) {
    const timer = setTimeout(action, ms);
    return () => clearTimeout(timer);
  },
};

/** Between two readings of the clock. A clock that was set back counts as passed: nothing waits until it has caught up. */
export function hasPassed(ms: number, since: number, now: number): boolean {
  return now < since || now - since >= ms;
}

export function later(moment: Date, ms: number): Date {
  return new Date(moment.getTime() + ms);
}
