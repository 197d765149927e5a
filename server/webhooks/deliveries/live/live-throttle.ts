/** What one Organization's deliveries may cost on their way to those who watch, and what people can read anyway. */
export const MAX_LIVE_PER_SECOND = 100;
const SECOND_MS = 1_000;

/** True for the first so many of each second, by the clock's milliseconds that it is given. */
export function createLiveThrottle(): (nowMs: number) => boolean {
  let startedAt = Number.NEGATIVE_INFINITY;
  let used = 0;
  return (nowMs) => {
    if (nowMs - startedAt >= SECOND_MS || nowMs < startedAt) {
      startedAt = nowMs;
      used = 0;
    }
    used += 1;
    return used <= MAX_LIVE_PER_SECOND;
  };
}
