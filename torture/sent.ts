import type { EventBody } from './receivers.ts';

/**
 * `acknowledged`: answered with 2xx. `unknown`: answered with 503, or not at all, so that it may have been accepted.
 * `unsent`: no process was reached.
 */
export type Fate = 'acknowledged' | 'unknown' | 'unsent';
export type SentEvent = EventBody & { fate: Fate };
/** A transfer created over `/api`; without a guid if no call for it was answered with 2xx. */
export type SentTransfer = { organizationGuid: string; guid?: string | undefined; fate: Fate };
export type Sent = { events: readonly SentEvent[]; transfers: readonly SentTransfer[] };

/** The states through which the sandbox moves a transfer. */
export const TRANSFER_EVENTS: readonly string[] = [
  'transfer.storing',
  'transfer.reviewing',
  'transfer.completed',
];

export function stateOf(
  path: string,
  { event_type, object_guid }: Pick<EventBody, 'event_type' | 'object_guid'>,
): string {
  return `${path} ${event_type} of ${object_guid}`;
}
