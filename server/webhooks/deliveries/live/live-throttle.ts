import { hasPassed } from '../../../infrastructure/runtime/clock.ts';
/** Per Organization and per stream. */
export const MAX_LIVE_PER_SECOND = 100;
const SECOND_MS = 1_000;

/** Returns true for the first `MAX_LIVE_PER_SECOND` calls of each second. */
export function createLiveThrottle(): (nowMs: number) => boolean {
  let startedAt = Number.NEGATIVE_INFINITY;
  let used = 0;
  return (nowMs) => {
    if (hasPassed(SECOND_MS, startedAt, nowMs)) {
      startedAt = nowMs;
      used = 0;
    }
    used += 1;
    return used <= MAX_LIVE_PER_SECOND;
  };
}
