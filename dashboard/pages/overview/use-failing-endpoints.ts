import { useQuery } from '@tanstack/react-query';
import type { Delivery, List } from '../../api/types.ts';
import { useWorkspace } from '../../session/workspace.ts';
import { useSubscriptionList } from '../../shared/deliveries/use-subscriptions.ts';

const REFRESH_MS = 15_000;
const PER_PAGE = 100;

/** Roles without access to subscriptions see only how many deliveries wait for a retry. */
export type FailingEndpoint = { guid: string; since?: string; hasFailed?: boolean; waiting?: number };

/** From the subscriptions if the role can view them, otherwise from the newest failing deliveries. */
export function useFailingEndpoints() {
  const { api, can } = useWorkspace();
  const canViewSubscriptions = can('subscriptions:read');
  const subscriptions = useSubscriptionList(REFRESH_MS);
  const deliveries = useQuery({
    queryKey: [api.key, '/subscription_deliveries', 'failing'],
    queryFn: ({ signal }) =>
      api.get<List<Delivery>>('/subscription_deliveries', {
        query: { state: 'failing', per_page: PER_PAGE },
        signal,
      }),
    enabled: !canViewSubscriptions,
    refetchInterval: REFRESH_MS,
  });
  if (!canViewSubscriptions)
    return { ...stateOf(deliveries), failing: deliveries.data && byEndpoint(deliveries.data) };
  const failing = subscriptions.data?.objects
    .filter(({ deliveries_failing_since: since, state }) => since !== undefined || state === 'failed')
    .map(({ guid, state, deliveries_failing_since: since }) => ({
      guid,
      hasFailed: state === 'failed',
      ...(since === undefined ? {} : { since }),
    }));
  return { ...stateOf(subscriptions), failing };
}

function stateOf({ error, refetch }: { error: Error | null; refetch: () => Promise<unknown> }) {
  return { error, retry: () => void refetch() };
}

function byEndpoint({ objects }: List<Delivery>): FailingEndpoint[] {
  const groups = Map.groupBy(objects, ({ subscription_guid: guid }) => guid);
  return [...groups].map(([guid, { length }]) => ({ guid, waiting: length }));
}
