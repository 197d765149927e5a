import type { Subscription } from '../../../api/types.ts';
import { HealthBadge } from '../../../shared/endpoints/HealthBadge.tsx';
import { useEndpointsByGuid } from '../../../shared/endpoints/use-endpoints.ts';
import { WaitingCount } from '../../../shared/endpoints/WaitingCount.tsx';
import { NoValue } from '../../../shared/text/NoValue.tsx';

const REFRESH_MS = 5_000;

export function SubscriptionBadge({ subscription }: { subscription: Subscription }) {
  const { guid, state, paused_at: pausedAt, deliveries_failing_since: since } = subscription;
  const health = useEndpointsByGuid(REFRESH_MS).get(guid)?.health ?? (since ? 'failing' : 'healthy');
  return <HealthBadge state={state} health={pausedAt === undefined ? health : 'paused'} />;
}

export function WaitingOf({ guid }: { guid: string }) {
  const endpoint = useEndpointsByGuid(REFRESH_MS).get(guid);
  return endpoint ? <WaitingCount {...endpoint} /> : <NoValue />;
}
