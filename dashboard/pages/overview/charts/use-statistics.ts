import { keepPreviousData, type UseQueryResult, useQuery } from '@tanstack/react-query';
import type { DeliveryStatistics, Range } from '../../../api/types.ts';
import { useWorkspace } from '../../../session/workspace.ts';

const REFRESH_MS = 15_000;
/** In the first minute of a page, so that a newcomer sees events arrive. */
const FIRST_REFRESH_MS = 3_000;
const FIRST_REFRESHES = 20;
export const RANGES: readonly Range[] = ['1h', '24h', '7d'];

export function rangeOf(text: string | undefined): Range {
  return RANGES.find((range) => range === text) ?? '24h';
}

/** Of one subscription, or of all subscriptions in this environment. */
export function useStatistics(range: Range, subscriptionGuid?: string): UseQueryResult<DeliveryStatistics> {
  const { api } = useWorkspace();
  return useQuery({
    queryKey: [api.key, '/delivery_statistics', range, subscriptionGuid],
    queryFn: ({ signal }) =>
      api.get<DeliveryStatistics>('/delivery_statistics', {
        query: { range, subscription_guid: subscriptionGuid },
        signal,
      }),
    refetchInterval: ({ state }) =>
      state.dataUpdateCount <= FIRST_REFRESHES ? FIRST_REFRESH_MS : REFRESH_MS,
    placeholderData: keepPreviousData,
  });
}
