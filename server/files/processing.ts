import type { Guids } from '../runtime/guid.ts';
import { later } from './looks.ts';
import { claimFiles } from './queue-store.ts';
import type { FileRow } from './store.ts';
import { createTreatment, LEASE_MS, type TreatmentDeps } from './treatment.ts';

/** Files of one process under way at once: they share a thread and a disk. */
const MAX_AT_ONCE = 4;
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
  const treat = createTreatment(deps, self, stopping.signal);
  const active = new Set<Promise<void>>();
  let running = false;
  let cancelLook = () => {};
  let looking: Promise<void> | undefined;
  /** Somebody asked while it was looking, and may know of something newer. */
  let again = false;

  async function claim(): Promise<void> {
    while (active.size < MAX_AT_ONCE && !stopping.signal.aborted) {
      const room = MAX_AT_ONCE - active.size;
      const now = clock.now();
      const lease = { by: self, until: later(now, LEASE_MS) };
      const claimed = await claimFiles(database.queries, now, lease, room);
      for (const file of claimed) take(file);
      if (claimed.length < room) return;
    }
  }

  function take(file: FileRow): void {
    const work: Promise<void> = treat(file)
      .catch((error: unknown) =>
        log.warn(
          { err: error, file: file.guid },
          'a file is left to whoever takes it when its lease has ended',
        ),
      )
      .finally(() => {
        active.delete(work);
        if (running) wake();
      });
    active.add(work);
  }

  async function look(): Promise<void> {
    again = true;
    looking ??= (async () => {
      while (again) {
        again = false;
        await claim();
      }
    })().finally(() => {
      looking = undefined;
    });
    await looking;
  }

  function wake(): void {
    look().catch((error: unknown) => log.warn({ reason: String(error) }, 'files could not be looked for'));
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
    wake(): void {
      if (running) wake();
    },

    /** Deals with everything that is due now. */
    async settle(): Promise<void> {
      for (;;) {
        await look();
        if (active.size === 0) return;
        await Promise.all(active);
      }
    },

    /** For good: what is under way is broken off and given back. */
    async stop(): Promise<void> {
      running = false;
      cancelLook();
      stopping.abort(new Error('the process stops'));
      await looking?.catch(() => {});
      await Promise.all(active);
    },
  };
}
