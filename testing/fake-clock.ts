import type { Clock } from '../server/runtime/clock.ts';

export type FakeClock = Clock & {
  advance(ms: number): void;
  set(moment: Date): void;
};

/** Time that moves only when a test says so. */
export function createFakeClock(start = new Date('2026-11-15T12:00:00.000Z')): FakeClock {
  let now = start.getTime();
  return {
    now: () => new Date(now),
    advance(ms) {
      now += ms;
    },
    set(moment) {
      now = moment.getTime();
    },
  };
}
