import { coalesce } from '../../infrastructure/runtime/coalesce.ts';
import type { Guids } from '../../infrastructure/runtime/guid.ts';
import { createLane } from './lane.ts';
import { createFileProcessor, type ProcessorDeps } from './process-file.ts';

/** Files that one process inspects at once: they share a thread and a disk. */
const MAX_PROCESSED_AT_ONCE = 4;
/** Polls of the storage that one process makes at once, in a lane of their own so that they never delay inspection. */
const MAX_POLLED_AT_ONCE = 8;
/** Uploads to another process are found within this time. */
const POLL_INTERVAL_MS = 2_000;

/**
 * Takes files from `storing` to `completed` or `failed`. A node leases each file in the database; another node takes
 * over when the lease expires.
 */
export function createProcessing({ guids, ...deps }: ProcessorDeps & { guids: Guids }) {
  const { database, clock, timers, log } = deps;
  const self = guids.next();
  const stopping = new AbortController();
  const { processContent, pollUpload } = createFileProcessor(deps, self, stopping.signal);
  const shared = {
    queries: database.queries,
    clock,
    log,
    self,
    stopping: stopping.signal,
    // A handled file may have another step due: found content has to be inspected.
    onDone: wakeIfRunning,
  };
  const lanes = [
    createLane({ ...shared, work: 'process', concurrency: MAX_PROCESSED_AT_ONCE, handle: processContent }),
    createLane({ ...shared, work: 'poll', concurrency: MAX_POLLED_AT_ONCE, handle: pollUpload }),
  ];
  let running = false;
  let cancelPoll = () => {};

  const active = () => lanes.flatMap((lane) => [...lane.active]);

  let claiming: Promise<unknown> = Promise.resolve();
  const claimOnce = coalesce(async () => {
    const [processed = 0, polled = 0] = await Promise.all(lanes.map((lane) => lane.claim()));
    return processed + polled;
  });
  /** Starts work on files that are due; returns their number. */
  function claim(): Promise<number> {
    const claimed = claimOnce();
    claiming = claimed;
    return claimed;
  }

  function wake(): void {
    claim().catch((error: unknown) => log.warn({ reason: String(error) }, 'could not claim files'));
  }

  /** Resolves when no file is being handled. */
  async function idle(): Promise<void> {
    await claiming.catch(() => {});
    await Promise.all(active());
  }

  function wakeIfRunning(): void {
    if (running) wake();
  }

  function pollRegularly(): void {
    cancelPoll = timers.after(POLL_INTERVAL_MS, () => {
      wake();
      pollRegularly();
    });
  }

  return {
    start(): void {
      running = true;
      pollRegularly();
      wake();
    },

    /** To be called when content was uploaded to this process. */
    wake: wakeIfRunning,

    claim,
    idle,

    /** Final. Aborts running work and releases its leases. */
    async stop(): Promise<void> {
      running = false;
      cancelPoll();
      stopping.abort(new Error('the process is stopping'));
      await idle();
    },
  };
}
