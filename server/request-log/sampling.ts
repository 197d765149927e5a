/** Calls of one Organization that are logged completely, per second and process; errors have the same limit apart. */
export const COMPLETE_CALLS = 100;
/** Up to this number one call in ten is logged, beyond it one in a hundred. */
const TENTH_CALLS = 1_000;

/** Decides which calls are logged, so that a flood by one tenant costs little and hides no error. */
export function createSampling() {
  const counts = new Map<string, { successes: number; errors: number }>();
  return {
    /** The number of calls that this one stands for; 0 if it is left out. */
    rateOf(tenant: string, isError: boolean): number {
      let counted = counts.get(tenant);
      if (counted === undefined) {
        counted = { successes: 0, errors: 0 };
        counts.set(tenant, counted);
      }
      const count = isError ? ++counted.errors : ++counted.successes;
      if (count <= COMPLETE_CALLS) return 1;
      const rate = count <= TENTH_CALLS ? 10 : 100;
      return count % rate === 0 ? rate : 0;
    },
    reset: () => counts.clear(),
  };
}
