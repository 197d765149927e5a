/**
 * Limits the concurrency of expensive work. Further work waits; beyond `maxWaiting` it is rejected at once instead of
 * timing out.
 */
export function createWorkQueue({ atOnce, maxWaiting }: { atOnce: number; maxWaiting: number }) {
  const waiting: (() => void)[] = [];
  const running = new Set<Promise<unknown>>();

  function start<T>(work: () => Promise<T>): Promise<T> {
    const promise = work();
    const ended = promise
      .catch(() => undefined)
      .finally(() => {
        running.delete(ended);
        waiting.shift()?.();
      });
    running.add(ended);
    return promise;
  }

  return {
    /** Undefined when the queue is full; the work is not run. */
    run<T>(work: () => Promise<T>): Promise<T> | undefined {
      if (running.size < atOnce) return start(work);
      if (waiting.length >= maxWaiting) return undefined;
      return new Promise<T>((resolve, reject) => {
        waiting.push(() => void start(work).then(resolve, reject));
      });
    },

    /** Resolves when nothing runs and nothing waits. */
    async idle(): Promise<void> {
      while (running.size > 0) await Promise.all(running);
    },
  };
}
