import { coalesce } from '../../infrastructure/runtime/coalesce.ts';
import type { Guids } from '../../infrastructure/runtime/guid.ts';
import { createLane } from './lane.ts';
import { createTreatment, type TreatmentDeps } from './process-file.ts';

/** Files of one process under examination at once: they share a thread and a disk. */
const MAX_EXAMINED_AT_ONCE = 4;
/** Questions to the storage whether content has come: they only wait, and must not hold up what has come. */
const MAX_POLLED_AT_ONCE = 8;
/** What arrives in another process is noticed within this time. */
const LOOK_EVERY_MS = 2_000;

/**
 * From `storing` to `completed` or `failed`. Whoever takes a file has it under a lease in the database: each is dealt
 * with once, by whichever node, and again by another when that one died.
 */
export function createProcessing({ guids, ...deps }: TreatmentDeps & { guids: Guids }) {
  const { database, clock, timers, log } = deps;
  const self = guids.next();
  const stopping = new AbortController();
  const { examineArrived, lookForAwaited } = createTreatment(deps, self, stopping.signal);
  const shared = {
    queries: database.queries,
    clock,
    log,
    self,
    stopping: stopping.signal,
    onDone,
  };
  const lanes = [
    createLane({ ...shared, work: 'arrived', atOnce: MAX_EXAMINED_AT_ONCE, treat: examineArrived }),
    createLane({ ...shared, work: 'awaited', atOnce: MAX_POLLED_AT_ONCE, treat: lookForAwaited }),
  ];
  let running = false;
  let cancelLook = () => {};
  /** Something ended, which may have left more to do: content that was found has to be examined. */
  let hasEnded = false;

  const active = () => lanes.flatMap((lane) => [...lane.active]);

  let looking: Promise<void> = Promise.resolve();
  const claim = coalesce(() => Promise.all(lanes.map((lane) => lane.claim())));
  function look(): Promise<void> {
    looking = claim();
    return looking;
  }

  function wake(): void {
    look().catch((error: unknown) => log.warn({ reason: String(error) }, 'files could not be looked for'));
  }

  function onDone(): void {
    hasEnded = true;
    wakeIfRunning();
  }

  function wakeIfRunning(): void {
    if (running) wake();
  }

  function lookRegularly(): void {
    cancelLook = timers.after(LOOK_EVERY_MS, () => {
      wake();
      lookRegularly();
    });
  }

  return {
    start(): void {
      running = true;
      lookRegularly();
      wake();
    },

    /** Something has arrived in this process. */
    wake: wakeIfRunning,

    /** Deals with everything that is due now. */
    async settle(): Promise<void> {
      for (;;) {
        hasEnded = false;
        await look();
        const underWay = active();
        if (underWay.length === 0 && !hasEnded) return;
        await Promise.all(underWay);
      }
    },

    /** For good: what is under way is broken off and given back. */
    async stop(): Promise<void> {
      running = false;
      cancelLook();
      stopping.abort(new Error('the process stops'));
      await looking.catch(() => {});
      await Promise.all(active());
    },
  };
}
