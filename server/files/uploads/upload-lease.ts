import type { Queries } from '../../infrastructure/database/database.ts';
import { type Clock, later, type Timers } from '../../infrastructure/runtime/clock.ts';
import type { Log } from '../../infrastructure/runtime/log.ts';
import { updateFileIf } from '../store.ts';

/** A link whose upload died with its node can be used again after this time. */
export const UPLOAD_LEASE_MS = 15_000;
export const RENEW_LEASE_EVERY_MS = 5_000;

/** The lease expired before it was renewed, and another upload took it. */
export class UploadLeaseLost extends Error {
  override readonly name = 'UploadLeaseLost';
}

type Deps = { queries: Queries; clock: Clock; timers: Timers; log: Log };

/** Renews the lease on an upload until it is released. */
export function keepUploadLease({ queries, clock, timers, log }: Deps, guid: string, leasedBy: string) {
  let lost = false;
  let stopped = false;
  let renewing = Promise.resolve();
  let cancel = () => {};

  async function renew(): Promise<void> {
    try {
      const renewed = { upload_leased_until: later(clock.now(), UPLOAD_LEASE_MS) };
      if (await updateFileIf(queries, guid, { uploadLeasedBy: leasedBy }, renewed)) return;
      lost = true;
      log.warn({ file: guid }, 'lost the lease on an upload');
    } catch (error) {
      // The lease outlasts two failed renewals.
      log.warn({ reason: String(error), file: guid }, 'could not renew the lease on an upload');
    }
  }

  function renewLater(): void {
    cancel = timers.after(RENEW_LEASE_EVERY_MS, () => {
      if (stopped) return;
      // Renewals run one after the other, so that a late one never shortens the lease.
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
      if (lost) throw new UploadLeaseLost('lost the lease on an upload');
    },

    /** Makes the link usable again. The file expires at `expiresAt` unless it is uploaded before. */
    async release(expiresAt: Date): Promise<void> {
      await stop();
      const unleased = { upload_leased_by: null, upload_leased_until: null, pending_bytes: null };
      await updateFileIf(
        queries,
        guid,
        { uploadLeasedBy: leasedBy, awaitingUpload: true },
        { ...unleased, next_look_at: expiresAt },
      ).catch((error: unknown) =>
        log.warn(
          { reason: String(error), file: guid },
          'could not release the lease on an upload; it will expire',
        ),
      );
    },
  };
}
