import { useQuery } from '@tanstack/react-query';
import type { Subscription, Targets } from '../../api/types.ts';
import { useWorkspace } from '../../session/workspace.ts';

const REFRESH_MS = 5_000;

/**
 * The subscriptions that deliver now, by guid: to any other nothing can be sent. Undefined for who may not send, and as
 * long as it is not known.
 */
export function useDeliveringSubscriptions(): readonly string[] | undefined {
  const { api, can, has } = useWorkspace();
  const { data } = useQuery({
    // Below the key of the subscriptions: a change of theirs is one of these.
    queryKey: [api.key, '/subscriptions', 'targets'],
    queryFn: ({ signal }) => api.get<Targets>('/subscription_targets', { signal }),
    enabled: can('subscription_events:execute') && has('webhooks'),
    refetchInterval: REFRESH_MS,
  });
  return data?.objects.map(({ subscription_guid: guid }) => guid);
}

/** Only the operator does that, and nothing else of the subscription shows it. */
export function useIsStopped({ guid, state }: Subscription): boolean {
  const targets = useDeliveringSubscriptions();
  const isRunning = state === 'storing' || state === 'active';
  return isRunning && targets !== undefined && !targets.includes(guid);
}
