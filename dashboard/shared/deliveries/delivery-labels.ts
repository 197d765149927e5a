import type { Query } from '../../api/send.ts';
import type { Delivery } from '../../api/types.ts';

/**
 * The dashboard's four words for deliveries. The API's state `storing` also covers the first ten seconds of retries,
 * which are Retrying here.
 */
export const DELIVERY_STATES: readonly { value: Delivery['state']; label: string }[] = [
  { value: 'storing', label: 'Queued' },
  { value: 'failing', label: 'Retrying' },
  { value: 'completed', label: 'Delivered' },
  { value: 'failed', label: 'Failed' },
];

type Stated = Pick<Delivery, 'state' | 'failure_kind'>;

export function deliveryLabel({ state, failure_kind: kind }: Stated): string {
  if (state === 'storing' && kind !== undefined) return 'Retrying';
  return DELIVERY_STATES.find(({ value }) => value === state)?.label ?? state;
}

/** The API's filters for the deliveries with the label of this state. */
export function queryOfState(state: string | undefined): Query {
  if (state === 'storing') return { state, attempted: false };
  return state === 'failing' ? { state: 'storing,failing', attempted: true } : { state };
}

export function hasLabelOf(delivery: Stated, state: string | undefined): boolean {
  const wanted = DELIVERY_STATES.find(({ value }) => value === state);
  return wanted === undefined || deliveryLabel(delivery) === wanted.label;
}
