import type { Delivery } from '../../api/types.ts';

/** The API's state `storing` covers deliveries before their first attempt and between retries. */
export function deliveryLabel({
  state,
  failure_kind: kind,
}: Pick<Delivery, 'state' | 'failure_kind'>): string {
  if (state !== 'storing') return state;
  return kind === undefined ? 'pending' : 'retrying';
}

export const DELIVERY_STATES: readonly { value: Delivery['state']; label: string }[] = [
  { value: 'storing', label: 'pending, retrying' },
  { value: 'completed', label: 'completed' },
  { value: 'failing', label: 'failing' },
  { value: 'failed', label: 'failed' },
];
