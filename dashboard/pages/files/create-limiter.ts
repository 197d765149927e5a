/** Lets so many tasks run at once; the others wait, and come in the order in which they were given. */
export function createLimiter(limit: number) {
  let running = 0;
  const waiting: (() => void)[] = [];

  /** One that is given up while it waits leaves the line, and takes nobody's turn. */
  function turn(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      waiting.push(resolve);
      signal.addEventListener('abort', () => {
        const place = waiting.indexOf(resolve);
        if (place !== -1) waiting.splice(place, 1);
        reject(signal.reason);
      });
    });
  }

  return {
    async run(signal: AbortSignal, task: () => Promise<void>): Promise<void> {
      if (running < limit) running += 1;
      else await turn(signal);
      try {
        await task();
      } finally {
        const next = waiting.shift();
        if (next) next();
        else running -= 1;
      }
    },
  };
}
