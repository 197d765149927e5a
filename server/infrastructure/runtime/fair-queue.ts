/** The work was refused, or gave way to that of others while it waited. */
export const SHED = Symbol('shed');

/** How much of a class may wait, in all and of one source. */
type Bounds = { maxWaiting: number; maxWaitingPerSource: number };
type Job = { start(): void; shed(): void };
type ClassQueue = Bounds & { waiting: Map<string, Job[]>; size: number };

/**
 * Expensive work, so much of it at once. Classes take turns, and within a class its sources do, so that a flood delays
 * its own class, and a source its own work. In a full class the source with the most work loses its newest; among equals
 * the one that has waited longest gives way (drop-head), so that a newcomer is never refused for being late.
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
  const inTurn = queues.map(([, queue]) => queue);
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
    const index = inTurn.findIndex(({ size }) => size > 0);
    const [queue] = index < 0 ? [] : inTurn.splice(index, 1);
    if (!queue) return undefined;
    inTurn.push(queue);
    const [[source, jobs] = ['', []]] = queue.waiting;
    const job = jobs.shift();
    queue.size -= 1;
    // Back to the end of the line.
    queue.waiting.delete(source);
    if (jobs.length > 0) queue.waiting.set(source, jobs);
    return job;
  }

  /** False when it has to give way itself. */
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

    /** When nothing runs and nothing waits any more. */
    async idle(): Promise<void> {
      while (running.size > 0) await Promise.all(running);
    },
  };
}

/** The first of the largest: of equals the one that is next in line. */
function largestOf({ waiting }: ClassQueue): [source: string, jobs: Job[]] {
  let largest: [string, Job[]] = ['', []];
  for (const entry of waiting) if (entry[1].length > largest[1].length) largest = entry;
  return largest;
}
