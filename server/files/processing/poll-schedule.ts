import { later } from '../../infrastructure/runtime/clock.ts';

/** The longest that one upload may take. An upload that began before its link expired may end after it. */
export const LONGEST_UPLOAD_MS = 3_600_000;
/**
 * An S3 store is polled again after a quarter of the time that the file has waited, within these bounds: most uploads
 * come soon after the file is created, and an unused link must not be polled every second for an hour.
 */
const MIN_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 120_000;
const MAX_PAUSE_AFTER_EXPIRY_MS = 600_000;

type AwaitedFile = { created_at: Date; upload_expires_at: Date | null };

/** When to ask the storage whether a file was uploaded. `nextPollAt` is undefined when the file has expired. */
export type PollSchedule = {
  firstPollAt(now: Date, expiresAt: Date): Date;
  nextPollAt(file: AwaitedFile, now: Date): Date | undefined;
};

/**
 * Uploads to the folder go through our own routes, which report their end. One poll remains, when the link expires: it
 * fails files that were never uploaded and finds uploads whose process died before reporting them.
 */
export const folderPollSchedule: PollSchedule = {
  firstPollAt: (_now, expiresAt) => expiresAt,
  nextPollAt: () => undefined,
};

/** Uploads to an S3 store bypass this service, so only polling shows that one has ended. */
export const storePollSchedule: PollSchedule = {
  firstPollAt: (now) => later(now, MIN_PAUSE_MS),
  nextPollAt({ created_at: createdAt, upload_expires_at: expiresAt }, now) {
    const linkExpiresAt = expiresAt ?? createdAt;
    const fileExpiresAt = later(linkExpiresAt, LONGEST_UPLOAD_MS);
    if (now >= fileExpiresAt) return undefined;
    const longestMs = now < linkExpiresAt ? MAX_PAUSE_MS : MAX_PAUSE_AFTER_EXPIRY_MS;
    const pauseMs = (now.getTime() - createdAt.getTime()) / 4;
    const next = later(now, Math.min(longestMs, Math.max(MIN_PAUSE_MS, pauseMs)));
    return new Date(Math.min(next.getTime(), fileExpiresAt.getTime()));
  },
};
