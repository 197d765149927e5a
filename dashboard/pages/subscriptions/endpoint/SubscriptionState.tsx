import type { Subscription } from '../../../api/types.ts';
import { StateBadge } from '../../../shared/text/StateBadge.tsx';

/** A pause is not a state of the API, but what a person needs to see first. */
export function SubscriptionState({ subscription }: { subscription: Subscription }) {
  const { state, paused_at: pausedAt } = subscription;
  if (pausedAt !== undefined && state !== 'deleting') return <StateBadge state="paused" label="Paused" />;
  return state === 'storing' ? (
    <StateBadge state={state} label="Waiting for first 2xx" />
  ) : (
    <StateBadge state={state} />
  );
}
