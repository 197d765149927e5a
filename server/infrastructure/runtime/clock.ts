/** Time is handed in everywhere, so that seven days take a second in a test. */
export type Clock = { now(): Date };

/** Waiting is handed in too; whoever no longer wants to be called calls what `after` returned. */
export type Timers = { after(ms: number, action: () => void): () => void };

export const systemClock: Clock = { now: () => new Date() };

export const systemTimers: Timers = {
  after(ms, action) {
    const timer = setTimeout(action, ms);
    return () => clearTimeout(timer);
  },
};

export function later(moment: Date, ms: number): Date {
  return new Date(moment.getTime() + ms);
}
