/** Time is handed in everywhere, so that seven days take a second in a test. */
export type Clock = { now(): Date };

export const systemClock: Clock = { now: () => new Date() };
