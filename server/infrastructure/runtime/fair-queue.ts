/** The work was rejected, or was shed while it waited. */
export const SHED = Symbol('shed');

/** How much work of a class may wait, in total and per source. */
type Bounds = { maxWaiting: number; maxWaitingPerSource: number };
type Job = { start(): void; shed(): void };
type ClassQueue = Bounds & { waiting: Map<string, Job[]>; size: number };

/**
 * Limits the concurrency of expensive work. Classes alternate, and sources alternate within a class, so that a flood
 * delays only its own class and source. When a class is full, the source with the most work loses its newest; among
 * equals the one that has waited longest (drop-head), so that a new source is not rejected for being late.
 */
export function createFairQueue<Class extends string>({
  atOnce,
  classes,
}: {
  atOnce: number;
  classes: Record<Class, Bounds>;
}) {
  const queues = Object.entries<Bounds>(classes).map(([name, bounds]): [string, ClassQueue] => [
    name,
    { ...bounds, waiting: new Map(), size: 0 },
  ]);
  const byName = new Map(queues);
  const runQueued = queues.map(([, queue]) => queue);
  const running = new Set<Promise<unknown>>();

  function start<T>(work: () => Promise<T>): Promise<T> {
    const promise = work();
    const ended = promise
      .catch(() => undefined)
      .finally(() => {
        running.delete(ended);
        takeNext()?.start();
      });
    running.add(ended);
    return promise;
  }

  function takeNext(): Job | undefined {
    const index = runQueued.findIndex(({ size }) => size > 0);
    const [queue] = index < 0 ? [] : runQueued.splice(index, 1);
    if (!queue) return undefined;
    runQueued.push(queue);
    const [[source, jobs] = ['', []]] = queue.waiting;
    const job = jobs.shift();
    queue.size -= 1;
    // Moves the source to the end of its class.
    queue.waiting.delete(source);
    if (jobs.length > 0) queue.waiting.set(source, jobs);
    return job;
  }

  /** False when the new job itself is shed. */
  function enter(queue: ClassQueue, source: string, job: Job): boolean {
    const own = queue.waiting.get(source) ?? [];
    if (own.length >= queue.maxWaitingPerSource) return false;
    if (queue.size >= queue.maxWaiting) {
      const [largest, jobs] = largestOf(queue);
      if (own.length >= jobs.length) return false;
      jobs.pop()?.shed();
      queue.size -= 1;
      if (jobs.length === 0) queue.waiting.delete(largest);
    }
    own.push(job);
    queue.waiting.set(source, own);
    queue.size += 1;
    return true;
  }

  return {
    run<T>(name: Class, source: string, work: () => Promise<T>): Promise<T | typeof SHED> {
      if (running.size < atOnce) return start(work);
      const queue = byName.get(name) as ClassQueue;
      return new Promise((resolve, reject) => {
        const job = {
          start: () => void start(work).then(resolve, reject),
          shed: () => resolve(SHED),
        };
        if (!enter(queue, source, job)) job.shed();
      });
    },

    /** Resolves when nothing runs and nothing waits. */
    async idle(): Promise<void> {
      while (running.size > 0) await Promise.all(running);
    },
  };
}

/** The first of the largest; among equals the one that is next in line. */
function largestOf({ waiting }: ClassQueue): [source: string, jobs: Job[]] {
  let largest: [string, Job[]] = ['', []];
  for (const entry of waiting) if (entry[1].length > largest[1].length) largest = entry;
  return largest;
}
