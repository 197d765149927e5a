import type { Row } from '../../infrastructure/database/tables.ts';
import type { DeliveryRequest } from './delivery.ts';

/** The state is derived from timestamps and the current time, so it is never stale. */
export const DELIVERY_STATES = ['storing', 'failing', 'completed', 'failed'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

type DeliveryRow = Row<'deliveries'>;
/** `due_at` is set until the delivery has ended. */
export type StoredDelivery = DeliveryRow & { due_at: Date | null };
export type DeliveryWithState = StoredDelivery & { state: DeliveryState };
export type StoredAttempt = Row<'delivery_attempts'>;
/** `hidden` and `notRecorded` name the fields and headers that are missing. */
export type AttemptRequest = {
  url: string | undefined;
  headers: Record<string, string>;
  hidden: readonly string[];
  notRecorded: readonly string[];
};
export type DetailedAttempt = StoredAttempt & {
  request: AttemptRequest;
  requestedBy: DeliveryRequest['by'] | undefined;
};
export type DetailedDelivery = DeliveryWithState & { attempts: DetailedAttempt[]; requestBody: string };

export type Moments = Pick<DeliveryRow, 'completed_at' | 'failed_at' | 'failing_since'>;

/** Applies when the timestamp is set, or with `agoMs` when it is at least that old. */
export type StateRule = { state: DeliveryState; moment: keyof Moments; agoMs?: number };

/** The first retries come within this time. */
export const FAILING_AFTER_MS = 10_000;

export const FIRST_STATE: DeliveryState = 'storing';

/** The first rule that applies gives the state. `stateOf` and the SQL filter of the store share these rules. */
export const STATE_RULES: readonly StateRule[] = [
  { state: 'completed', moment: 'completed_at' },
  { state: 'failed', moment: 'failed_at' },
  { state: 'failing', moment: 'failing_since', agoMs: FAILING_AFTER_MS },
];

export function stateOf(moments: Moments, now: Date): DeliveryState {
  const rule = STATE_RULES.find(({ moment, agoMs }) => {
    const at = moments[moment];
    return at !== null && (agoMs === undefined || at.getTime() + agoMs <= now.getTime());
  });
  return rule?.state ?? FIRST_STATE;
}
