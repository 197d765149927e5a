import type { SubscriptionRow } from './store.ts';

/** What a subscription shows. It follows from its moments and the time, so it is never stale. */
const SUBSCRIPTION_STATES = ['storing', 'active', 'failed', 'deleting', 'deleted'] as const;
export type SubscriptionState = (typeof SUBSCRIPTION_STATES)[number];

export type Moments = Pick<
  SubscriptionRow,
  'activated_at' | 'failed_at' | 'scheduled_deletion_at' | 'deleted_at'
>;

type Rule = { state: SubscriptionState; moment: keyof Moments; is: 'set' | 'reached' };

export const FIRST_STATE: SubscriptionState = 'storing';

/**
 * The first that applies is the state, and without any it is the first state. `stateOf` here and `stateAt` of
 * the store both read this table: what is shown and what is filtered by cannot differ. A deletion whose time
 * has come is one, whether the sweeper came by or not.
 */
export const STATE_RULES: readonly Rule[] = [
  { state: 'deleted', moment: 'deleted_at', is: 'set' },
  { state: 'deleted', moment: 'scheduled_deletion_at', is: 'reached' },
  { state: 'deleting', moment: 'scheduled_deletion_at', is: 'set' },
  { state: 'failed', moment: 'failed_at', is: 'set' },
  { state: 'active', moment: 'activated_at', is: 'set' },
];

/** Deliveries that have failed this long end the subscription (specification, Events 7). */
export const FAILS_AFTER_MS = 7 * 24 * 3_600_000;

/** Endpoints of an Organization, over both environments. */
export const MAX_SUBSCRIPTIONS = 5;

/** Those that the limit counts: the others have ended, or are about to. */
export const COUNTED_STATES: readonly SubscriptionState[] = ['storing', 'active'];

/** Subscriptions that deliver to one URL, so that creating and deleting in turn does not multiply what it receives. */
export const MAX_RECEIVING_AT_URL = 5;

/** Those whose deletion is scheduled do not count as above, but still get every event. */
export const MAX_RECEIVING = 20;
export const RECEIVING_STATES: readonly SubscriptionState[] = [...COUNTED_STATES, 'deleting'];

export function isSubscriptionState(name: string): name is SubscriptionState {
  return SUBSCRIPTION_STATES.some((state) => state === name);
}

export function stateOf(moments: Moments, now: Date): SubscriptionState {
  const rule = STATE_RULES.find(({ moment, is }) => {
    const at = moments[moment];
    return at !== null && (is === 'set' || at <= now);
  });
  return rule?.state ?? FIRST_STATE;
}
