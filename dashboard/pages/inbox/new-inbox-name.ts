import type { Inbox } from '../../api/types.ts';

export const MAX_INBOXES = 5;

/** Undefined when the limit is reached. */
export function newInboxName(existing: readonly Inbox[]): string | undefined {
  if (existing.length >= MAX_INBOXES) return undefined;
  return Array.from({ length: MAX_INBOXES }, (_, index) => `Inbox ${index + 1}`).find(
    (name) => !existing.some((inbox) => inbox.name === name),
  );
}
