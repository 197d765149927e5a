import type { Clock, Timers } from '../../server/infrastructure/runtime/clock.ts';

export type FakeClock = Clock &
  Timers & {
    /** Advances time and runs every timer that becomes due, each at its own time. */
    advance(ms: number): void;
    set(moment: Date): void;
    /** Timers that are still set. */
    waiting(): number;
  };

type Timer = { at: number; action: () => void };

/** A clock that only a test advances. */
export function createFakeClock(start = new Date('2026-11-15T12:00:00.000Z')): FakeClock {
  let now = start.getTime();
  const timers = new Set<Timer>();

  function nextDue(until: number): Timer | undefined {
    let next: Timer | undefined;
    for (const timer of timers) if (timer.at <= until && (!next || timer.at < next.at)) next = timer;
    return next;
  }

  function moveTo(moment: number): void {
    for (let timer = nextDue(moment); timer; timer = nextDue(moment)) {
      timers.delete(timer);
      now = Math.max(now, timer.at);
      timer.action();
    }
    now = moment;
  }

  return {
    now: () => new Date(now),
    after(ms, action) {
      const timer = { at: now + ms, action };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    advance: (ms) => moveTo(now + ms),
    set: (moment) => moveTo(moment.getTime()),
    waiting: () => timers.size,
  };
}
