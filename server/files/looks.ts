/** The longest that one upload may take. One that began before its link expired may end after. */
export const LONGEST_UPLOAD_MS = 3_600_000;
/** A store of its own is asked in a quarter of the time that the file has been waiting, within these bounds. */
const MIN_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 30_000;

type Awaited = { created_at: Date; upload_expires_at: Date | null };

/** When to look whether the content of a file has come; undefined: not any more, it will not come. */
export type Looks = {
  firstLookAt(now: Date, expiresAt: Date): Date;
  nextLookAt(file: Awaited, now: Date): Date | undefined;
};

/**
 * Uploads to a folder go through our own routes, which say when one begins and when it has ended. So the only look is
 * the last one, for what never began, and for what a crash kept from being told.
 */
export const looksOfOwnUploads: Looks = {
  firstLookAt: (_now, expiresAt) => expiresAt,
  nextLookAt: () => undefined,
};

/** Whether one of the store's own uploads has ended, or even begun, only asking tells. */
export const looksOfForeignUploads: Looks = {
  firstLookAt: (now) => later(now, MIN_PAUSE_MS),
  nextLookAt({ created_at: createdAt, upload_expires_at: expiresAt }, now) {
    const givenUpAt = later(expiresAt ?? createdAt, LONGEST_UPLOAD_MS);
    if (now >= givenUpAt) return undefined;
    const pauseMs = (now.getTime() - createdAt.getTime()) / 4;
    return later(now, Math.min(MAX_PAUSE_MS, Math.max(MIN_PAUSE_MS, pauseMs)));
  },
};

export function later(moment: Date, ms: number): Date {
  return new Date(moment.getTime() + ms);
}
