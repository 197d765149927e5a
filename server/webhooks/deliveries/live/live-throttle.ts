/** Per Organization and per stream. */
export const MAX_LIVE_PER_SECOND = 100;
const SECOND_MS = 1_000;

/** Returns true for the first `MAX_LIVE_PER_SECOND` calls of each second. */
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
