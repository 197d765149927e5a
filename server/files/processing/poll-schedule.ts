/** The longest that one upload may take. One that began before its link expired may end after. */
export const LONGEST_UPLOAD_MS = 3_600_000;
/**
 * A store of its own is asked in a quarter of the time that the file has been waiting, within these bounds: most uploads
 * come at once, and a link that nobody used must not be asked about for an hour as if they did.
 */
const MIN_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 120_000;
const MAX_PAUSE_AFTER_EXPIRY_MS = 600_000;

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
    const linkEndsAt = expiresAt ?? createdAt;
    const givenUpAt = later(linkEndsAt, LONGEST_UPLOAD_MS);
    if (now >= givenUpAt) return undefined;
    const longestMs = now < linkEndsAt ? MAX_PAUSE_MS : MAX_PAUSE_AFTER_EXPIRY_MS;
    const pauseMs = (now.getTime() - createdAt.getTime()) / 4;
    const next = later(now, Math.min(longestMs, Math.max(MIN_PAUSE_MS, pauseMs)));
    return new Date(Math.min(next.getTime(), givenUpAt.getTime()));
  },
};

export function later(moment: Date, ms: number): Date {
  return new Date(moment.getTime() + ms);
}
