import type { Queries } from '../../infrastructure/database/database.ts';
import type { Clock, Timers } from '../../infrastructure/runtime/clock.ts';
import type { Log } from '../../infrastructure/runtime/log.ts';
import { later } from '../processing/poll-schedule.ts';
import { releaseUpload, renewUpload } from '../store.ts';

/** A link whose uploader died can be used again after this time. */
export const UPLOAD_LEASE_MS = 15_000;
const RENEW_EVERY_MS = 5_000;

/** Another node has taken the link over, because this one did not renew its lease in time. */
export class UploadLeaseLost extends Error {
  override readonly name = 'UploadLeaseLost';
}

type Deps = { queries: Queries; clock: Clock; timers: Timers; log: Log };

/** Renews the lease of an upload until it is released. */
export function keepUploadLease({ queries, clock, timers, log }: Deps, guid: string, leasedBy: string) {
  let lost = false;
  let stopped = false;
  let renewing = Promise.resolve();
  let cancel = () => {};

  async function renew(): Promise<void> {
    try {
      if (await renewUpload(queries, guid, leasedBy, later(clock.now(), UPLOAD_LEASE_MS))) return;
      lost = true;
      log.warn({ file: guid }, 'lost the lease of an upload');
    } catch (error) {
      // The lease lasts for three renewals.
      log.warn({ reason: String(error), file: guid }, 'could not renew the lease of an upload');
    }
  }

  function renewLater(): void {
    cancel = timers.after(RENEW_EVERY_MS, () => {
      if (stopped) return;
      // One after the other, so that a late answer never shortens the lease.
      renewing = renewing.then(renew);
      renewLater();
    });
  }
  renewLater();

  async function stop(): Promise<void> {
    stopped = true;
    cancel();
    await renewing;
  }

  return {
    stop,

    check(): void {
      if (lost) throw new UploadLeaseLost('the lease of the upload was lost');
    },

    /** The link can be used again at once; `nextLookAt` is when to give the file up if it is not. */
    async release(nextLookAt: Date): Promise<void> {
      await stop();
      await releaseUpload(queries, guid, leasedBy, nextLookAt).catch((error: unknown) =>
        log.warn({ reason: String(error), file: guid }, 'could not release an upload; its lease will expire'),
      );
    },
  };
}
