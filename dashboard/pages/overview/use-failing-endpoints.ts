import { useQuery } from '@tanstack/react-query';
import type { Delivery, List } from '../../api/types.ts';
import { useWorkspace } from '../../session/workspace.ts';
import { useSubscriptionList } from '../../shared/deliveries/use-subscriptions.ts';

const REFRESH_MS = 15_000;
/** As many deliveries as one page of the API has; who has more in trouble sees it from these as well. */
const PER_PAGE = 100;

/** An endpoint in trouble, as far as this person may know: since when, or by the deliveries that wait for it. */
export type Failing = { guid: string; since?: string; isOver?: boolean; waiting?: number };

/** The endpoints that do not answer now: from the subscriptions, or for who may not read them, from the deliveries. */
export function useFailingEndpoints() {
  const { api, can } = useWorkspace();
  const maySeeAll = can('subscriptions:read');
  const subscriptions = useSubscriptionList(REFRESH_MS);
  const deliveries = useQuery({
    queryKey: [api.key, '/subscription_deliveries', 'failing'],
    queryFn: ({ signal }) =>
      api.get<List<Delivery>>('/subscription_deliveries', {
        query: { state: 'failing', per_page: PER_PAGE },
        signal,
      }),
    enabled: !maySeeAll,
    refetchInterval: REFRESH_MS,
  });
  if (!maySeeAll) return { ...stateOf(deliveries), failing: deliveries.data && byEndpoint(deliveries.data) };
  const failing = subscriptions.data?.objects
    .filter(({ deliveries_failing_since: since, state }) => since !== undefined || state === 'failed')
    .map(({ guid, state, deliveries_failing_since: since }) => ({
      guid,
      isOver: state === 'failed',
      ...(since === undefined ? {} : { since }),
    }));
  return { ...stateOf(subscriptions), failing };
}

function stateOf({ error, refetch }: { error: Error | null; refetch: () => Promise<unknown> }) {
  return { error, retry: () => void refetch() };
}

function byEndpoint({ objects }: List<Delivery>): Failing[] {
  const groups = Map.groupBy(objects, ({ subscription_guid: guid }) => guid);
  return [...groups].map(([guid, { length }]) => ({ guid, waiting: length }));
}
