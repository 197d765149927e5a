import { useQuery } from '@tanstack/react-query';
import type { RecoveryPreview } from '../../../api/types.ts';
import { useWorkspace } from '../../../session/workspace.ts';

const REFRESH_MS = 5_000;

/** What a redelivery would send; nothing is read without a subscription. */
export function usePreview(
  subscriptionGuid: string | undefined,
  since: string | undefined,
  until: string | undefined,
) {
  const { api } = useWorkspace();
  const path = `/subscription_recovery_previews/${subscriptionGuid}`;
  return useQuery({
    queryKey: [api.key, path, since, until],
    queryFn: ({ signal }) => api.get<RecoveryPreview>(path, { query: { since, until }, signal }),
    enabled: subscriptionGuid !== undefined,
    refetchInterval: REFRESH_MS,
  });
}
