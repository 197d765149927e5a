import type { Event, SandboxObject } from '../../../api/types.ts';

/** One line of the history of an object. */
export type Change = {
  key: string;
  at: string;
  state?: string | undefined;
  event?: Event;
  text?: string;
  /** The object that caused the change. */
  link?: { kind: string; guid: string };
};

/**
 * The changes of an object, newest first: its events, a current state that no event announced, how a quote ended, and its
 * creation, which remains when its events have passed their retention period.
 */
export function changesOf(
  { guid, created_at: createdAt, updated_at: updatedAt, expires_at: expiresAt }: SandboxObject,
  state: string | undefined,
  events: readonly Event[],
  use: SandboxObject | undefined,
): Change[] {
  const announced = events.map((event) => ({
    ...{ key: event.guid, at: event.created_at, event },
    state: event.event_type.split('.').at(-1),
  }));
  const ends: Change[] = [];
  if (use) {
    const kind = 'symbol' in use ? 'trades' : 'transfers';
    const text = `Used by ${kind === 'trades' ? 'a trade' : 'a transfer'}`;
    ends.push({ key: 'use', at: use.created_at, state, text, link: { kind, guid: use.guid } });
  } else if (state === 'expired' && typeof expiresAt === 'string')
    ends.push({ key: 'expiry', at: expiresAt, state, text: 'Expired' });
  const isUnannounced = state !== undefined && announced[0]?.state !== state && ends.length === 0;
  const isChanged = updatedAt !== createdAt;
  const current: Change[] =
    isUnannounced && (isChanged || events.length > 0)
      ? [{ key: 'current', at: updatedAt, state, text: 'State changed, without an event' }]
      : state === undefined && isChanged
        ? [{ key: 'update', at: updatedAt, text: 'Last change' }]
        : [];
  const isNew = isUnannounced && current.length === 0;
  return [
    ...current,
    ...ends,
    ...announced,
    { key: guid, at: createdAt, text: 'Created', ...(isNew && { state }) },
  ];
}
