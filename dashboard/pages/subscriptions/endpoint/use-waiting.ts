import { useQuery } from '@tanstack/react-query';
import type { HealthViewed } from '../../../../server/webhooks/deliveries/health/health-schema.ts';
import { useWorkspace } from '../../../session/workspace.ts';

const REFRESH_MS = 5_000;

type Waiting = Pick<HealthViewed, 'waiting' | 'waiting_is_minimum'>;

/** The deliveries that wait for an endpoint; undefined while loading. */
export function useWaiting(guid: string, { enabled = true } = {}): Waiting | undefined {
  const { api, can } = useWorkspace();
  const { data } = useQuery({
    // Shares the prefix of subscriptions, so that a change of theirs invalidates it too.
    queryKey: [api.key, '/subscriptions', guid, 'waiting'],
    queryFn: ({ signal }) => api.get<HealthViewed>(`/endpoint_health/${guid}`, { signal }),
    refetchInterval: REFRESH_MS,
    enabled: enabled && can('subscription_events:read'),
  });
  return data;
}

export function formatWaiting({ waiting, waiting_is_minimum: isMinimum }: Waiting): string {
  const count = `${isMinimum ? 'At least ' : ''}${waiting.toLocaleString('en')}`;
  return waiting === 1 && !isMinimum ? '1 waiting delivery' : `${count} waiting deliveries`;
}
