import { Failure } from '../../infrastructure/runtime/failure.ts';
import type { DeliveryRow } from './store.ts';

/** What a delivery shows. It follows from its moments and the time, so it is never stale. */
export const DELIVERY_STATES = ['storing', 'failing', 'completed', 'failed'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

export type Moments = Pick<DeliveryRow, 'completed_at' | 'failed_at' | 'failing_since'>;

/** A moment that is set, or that was so long ago. */
export type StateRule = { state: DeliveryState; moment: keyof Moments; agoMs?: number };

/** One failure is nothing yet: the second attempt may well succeed. */
const FAILING_AFTER_MS = 10_000;

export const FIRST_STATE: DeliveryState = 'storing';

/**
 * The first that applies is the state, and without any it is the first state. `stateOf` here and the filter of the
 * store both read this table: what is shown and what is filtered by cannot differ.
 */
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

/** What a filter names; undefined is every state. */
export function deliveryStates(names: readonly string[] | undefined): DeliveryState[] | Failure | undefined {
  const unknown = names?.find((name) => !isDeliveryState(name));
  if (unknown !== undefined)
    return new Failure('invalid_parameter', `state ${unknown} is not a state of deliveries`);
  return names?.filter(isDeliveryState);
}

function isDeliveryState(name: string): name is DeliveryState {
  return DELIVERY_STATES.some((state) => state === name);
}
