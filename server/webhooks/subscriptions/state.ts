import type { Row } from '../../infrastructure/database/tables.ts';

/** The only type so far. */
export const SUBSCRIPTION_TYPE = 'webhook';

/** The state is derived from timestamps and the current time, so it is never stale. */
export const SUBSCRIPTION_STATES = ['storing', 'active', 'failed', 'deleting', 'deleted'] as const;
export type SubscriptionState = (typeof SUBSCRIPTION_STATES)[number];

/** Without the columns that only sending needs. */
export type SubscriptionRow = Omit<
  Row<'subscriptions'>,
  | 'signing_key_encrypted'
  | 'first_delivery_guid'
  | 'retries_early_before'
  | 'endpoint_version'
  | 'url_changed_at'
  | 'frozen'
>;
export type Subscription = SubscriptionRow & { state: Exclude<SubscriptionState, 'deleted'> };

export type Moments = Pick<
  SubscriptionRow,
  'activated_at' | 'failed_at' | 'scheduled_deletion_at' | 'deleted_at'
>;

type Rule = { state: SubscriptionState; moment: keyof Moments; is: 'set' | 'reached' };

export const FIRST_STATE: SubscriptionState = 'storing';

/**
 * The first rule that applies gives the state. `stateOf` and `stateAt` of the store share these rules. A subscription
 * is deleted at `scheduled_deletion_at`, even before the cluster task has marked it.
 */
export const STATE_RULES: readonly Rule[] = [
  { state: 'deleted', moment: 'deleted_at', is: 'set' },
  { state: 'deleted', moment: 'scheduled_deletion_at', is: 'reached' },
  { state: 'deleting', moment: 'scheduled_deletion_at', is: 'set' },
  { state: 'failed', moment: 'failed_at', is: 'set' },
  { state: 'active', moment: 'activated_at', is: 'set' },
];

/** A subscription fails after its deliveries have failed for this long (specification, Events 7). */
export const FAILS_AFTER_MS = 7 * 24 * 3_600_000;

/** Per Organization, in both environments together. */
export const MAX_SUBSCRIPTIONS = 5;

/** States that count towards `MAX_SUBSCRIPTIONS`. */
export const COUNTED_STATES: readonly SubscriptionState[] = ['storing', 'active'];

/** Including deleting subscriptions, so that repeated creation and deletion does not multiply the deliveries to a URL. */
export const MAX_RECEIVING_AT_URL = 5;

/** Per Organization, including deleting subscriptions, which still receive every event. */
export const MAX_RECEIVING = 20;
export const RECEIVING_STATES: readonly SubscriptionState[] = [...COUNTED_STATES, 'deleting'];

export function stateOf(moments: Moments, now: Date): SubscriptionState {
  const rule = STATE_RULES.find(({ moment, is }) => {
    const at = moments[moment];
    return at !== null && (is === 'set' || at <= now);
  });
  return rule?.state ?? FIRST_STATE;
}
