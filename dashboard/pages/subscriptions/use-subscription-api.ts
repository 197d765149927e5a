import type { CreatedSubscription, Delivery, Subscription } from '../../api/types.ts';
import { useWorkspace } from '../../session/workspace.ts';

export function useSubscriptionApi() {
  const { api, environment } = useWorkspace();
  return {
    listKey: [api.key, '/subscriptions'] as const,
    create: (input: { name: string; url: string; replaces_guid?: string }) =>
      api.post<CreatedSubscription>('/subscriptions', { type: 'webhook', environment, ...input }),
    change: (guid: string, changes: { name?: string; url?: string; paused?: boolean }) =>
      api.patch<Subscription>(`/subscriptions/${guid}`, changes),
    remove: (guid: string) => api.remove<Subscription>(`/subscriptions/${guid}`),
    sendTest: (guid: string) => api.post<Delivery>(`/subscriptions/${guid}/test_event`),
  };
}
