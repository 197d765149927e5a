/** Runs at most `limit` tasks at a time; the others wait in order. */
export function createLimiter(limit: number) {
  let running = 0;
  const queue: (() => void)[] = [];

  function waitForSlot(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      queue.push(resolve);
      signal.addEventListener('abort', () => {
        const index = queue.indexOf(resolve);
        if (index !== -1) queue.splice(index, 1);
        reject(signal.reason);
      });
    });
  }

  return {
    async run<Result>(signal: AbortSignal, task: () => Promise<Result>): Promise<Result> {
      if (running < limit) running += 1;
      else await waitForSlot(signal);
      try {
        return await task();
      } finally {
        const next = queue.shift();
        if (next) next();
        else running -= 1;
      }
    },
  };
}
