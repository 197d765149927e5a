/**
 * Between the creation of an event and its insert the transaction is idle, which PostgreSQL ends after 15 seconds; the
 * rest is for differences between the clocks of nodes.
 */
const MARGIN_MS = 30_000;
/** Age of a transaction that was open before the first snapshot. Timeouts end transactions of the service long before. */
const MAX_UNKNOWN_AGE_MS = 3_600_000;
const MAX_REMEMBERED = 512;

/**
 * Finds the time from which on events outside of a snapshot were created: transactions in progress have ids from the
 * `xmin` of the snapshot on, and an earlier snapshot whose `xmax` is not above it dates the oldest of them.
 */
export function createFloor() {
  let taken: { atMs: number; xmax: bigint }[] = [];

  return {
    /** Of a snapshot that was requested at this time. */
    of(snapshot: string, atMs: number): number {
      // The third part is a list.
      const [xmin = 0n, xmax = 0n] = snapshot.split(':', 2).map(BigInt);
      // Every second one: a long transaction must not fill the memory.
      if (taken.length >= MAX_REMEMBERED) taken = taken.filter((_, index) => index % 2 === 0);
      taken.push({ atMs, xmax });
      const last = taken.findLastIndex((each) => each.xmax <= xmin);
      if (last > 0) taken.splice(0, last);
      return (last === -1 ? atMs - MAX_UNKNOWN_AGE_MS : (taken[0]?.atMs ?? atMs)) - MARGIN_MS;
    },

    /** Ids of another database do not compare. */
    forget(): void {
      taken = [];
    },
  };
}
