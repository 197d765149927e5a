import Type from 'typebox';
import { Timestamp } from '../../../infrastructure/http/requests/schemas.ts';
import { MAX_COUNTED_WAITING, type Waiting } from './waiting.ts';

export const waitingFields = {
  waiting: Type.Integer({
    description: 'Deliveries that have neither arrived nor failed for good, now, including those never tried',
    example: 1_203,
  }),
  waiting_is_minimum: Type.Boolean({
    description: `Whether more may wait: of each subscription at most ${MAX_COUNTED_WAITING.toLocaleString('en')} are counted`,
  }),
  oldest_waiting_at: Type.Optional({
    ...Timestamp,
    description: 'Creation of the oldest waiting delivery; absent when none waits',
  }),
};

/** The sum over subscriptions, and the oldest of all. */
export function viewWaiting(waiting: readonly Waiting[]) {
  const oldest = waiting
    .flatMap(({ oldestAt }) => oldestAt ?? [])
    .toSorted((a, b) => a.getTime() - b.getTime())
    .at(0);
  return {
    waiting: waiting.reduce((sum, { count }) => sum + count, 0),
    waiting_is_minimum: waiting.some(({ count }) => count === MAX_COUNTED_WAITING),
    ...(oldest ? { oldest_waiting_at: oldest.toISOString() } : {}),
  };
}
