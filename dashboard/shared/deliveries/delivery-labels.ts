import type { Delivery } from '../../api/types.ts';

/** What the API calls `storing` is on its way; once an attempt has failed, people call it something else. */
export function deliveryLabel({
  state,
  failure_kind: kind,
}: Pick<Delivery, 'state' | 'failure_kind'>): string {
  if (state !== 'storing') return state;
  return kind === undefined ? 'on its way' : 'retrying';
}

/** To filter by: the API knows one state for both of its words. */
export const DELIVERY_STATES: readonly { value: Delivery['state']; label: string }[] = [
  { value: 'storing', label: 'on its way, retrying' },
  { value: 'completed', label: 'completed' },
  { value: 'failing', label: 'failing' },
  { value: 'failed', label: 'failed' },
];
