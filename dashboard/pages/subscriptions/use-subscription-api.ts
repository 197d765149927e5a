import type { CreatedSubscription, Delivery, Subscription } from '../../api/types.ts';
import { useWorkspace } from '../../session/workspace.ts';
import { useWithRefresh } from '../../shared/table/use-with-refresh.ts';

export function useSubscriptionApi() {
  const { api, environment } = useWorkspace();
  const listKey = [api.key, '/subscriptions'] as const;
  const withRefresh = useWithRefresh(listKey);
  return {
    listKey,
    create: (input: { name: string; url: string; replaces_guid?: string }) =>
      withRefresh(
        api.post<CreatedSubscription>('/subscriptions', { type: 'webhook', environment, ...input }),
      ),
    change: (guid: string, changes: { name?: string; url?: string; paused?: boolean }) =>
      withRefresh(api.patch<Subscription>(`/subscriptions/${guid}`, changes)),
    remove: (guid: string) => withRefresh(api.remove<Subscription>(`/subscriptions/${guid}`)),
    sendTest: (guid: string) => api.post<Delivery>(`/subscriptions/${guid}/test_event`),
  };
}
