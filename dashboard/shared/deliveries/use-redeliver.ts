import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { Delivery } from '../../api/types.ts';
import { useWorkspace } from '../../session/workspace.ts';
import { notifyError, notifySuccess } from '../feedback/notify.ts';

type Wanted = Pick<Delivery, 'subscription_event_guid' | 'subscription_guid'>;

/** An event once more to a subscription, as a delivery of its own. */
export function useRedeliver({ onSent }: { onSent?: () => void } = {}) {
  const { api } = useWorkspace();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: ({ subscription_event_guid, subscription_guid }: Wanted) =>
      api.post<Delivery>('/subscription_deliveries', { subscription_event_guid, subscription_guid }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: [api.key, '/subscription_deliveries'] });
      notifySuccess('Sent once more, as a new delivery.');
      onSent?.();
    },
    onError: notifyError,
  });
}
