import type { Subscription } from '../../api/types.ts';
import { HealthBadge } from '../../shared/endpoints/HealthBadge.tsx';
import { useEndpointsByGuid } from '../../shared/endpoints/use-endpoints.ts';
import { WaitingCount } from '../../shared/endpoints/WaitingCount.tsx';
import { NoValue } from '../../shared/text/NoValue.tsx';
import { StateBadge } from '../../shared/text/StateBadge.tsx';

const REFRESH_MS = 5_000;

/** A pause is not a state of the API, but what a person needs to see first. */
export function SubscriptionBadge({ subscription }: { subscription: Subscription }) {
  const { guid, state, paused_at: pausedAt } = subscription;
  const health = useEndpointsByGuid(REFRESH_MS).get(guid)?.health ?? 'healthy';
  if (pausedAt !== undefined && state !== 'deleting') return <StateBadge state="paused" label="Paused" />;
  return <HealthBadge state={state} health={health} />;
}

export function WaitingOf({ guid }: { guid: string }) {
  const endpoint = useEndpointsByGuid(REFRESH_MS).get(guid);
  return endpoint ? <WaitingCount {...endpoint} /> : <NoValue />;
}
