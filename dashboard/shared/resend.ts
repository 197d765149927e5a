import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { Delivery } from '../api/types.ts';
import { useWorkspace } from '../shell/workspace-context.ts';
import { tell, tellProblem } from './notify.ts';

type Wanted = Pick<Delivery, 'subscription_event_guid' | 'subscription_guid'>;

/** An event once more to a subscription, as a delivery of its own. */
export function useResend({ onSent }: { onSent?: () => void } = {}) {
  const { api } = useWorkspace();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: ({ subscription_event_guid, subscription_guid }: Wanted) =>
      api.post<Delivery>('/subscription_deliveries', { subscription_event_guid, subscription_guid }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: [api.key, '/subscription_deliveries'] });
      tell('Sent once more, as a new delivery.');
      onSent?.();
    },
    onError: tellProblem,
  });
}
