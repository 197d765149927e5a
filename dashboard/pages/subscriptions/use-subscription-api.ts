import type { CreatedSubscription, Delivery, Subscription } from '../../api/types.ts';
import { useWorkspace } from '../../session/workspace.ts';

export function useSubscriptionApi() {
  const { api, environment } = useWorkspace();
  return {
    listKey: [api.key, '/subscriptions'] as const,
    create: (input: { name: string; url: string }) =>
      api.post<CreatedSubscription>('/subscriptions', { type: 'webhook', environment, ...input }),
    rename: (guid: string, name: string) => api.patch<Subscription>(`/subscriptions/${guid}`, { name }),
    remove: (guid: string) => api.remove<Subscription>(`/subscriptions/${guid}`),
    sendTest: (guid: string) => api.post<Delivery>(`/subscriptions/${guid}/test_event`),
  };
}
