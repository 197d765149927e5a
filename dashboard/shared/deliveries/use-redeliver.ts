import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { Delivery } from '../../api/types.ts';
import { useWorkspace } from '../../session/workspace.ts';
import { notifyError, notifySuccess } from '../feedback/notify.ts';

type Redelivery = Pick<Delivery, 'subscription_event_guid' | 'subscription_guid'>;

export function useRedeliver({ onCreated }: { onCreated?: () => void } = {}) {
  const { api } = useWorkspace();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: ({ subscription_event_guid, subscription_guid }: Redelivery) =>
      api.post<Delivery>('/subscription_deliveries', { subscription_event_guid, subscription_guid }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: [api.key, '/subscription_deliveries'] });
      notifySuccess('Redelivery created.');
      onCreated?.();
    },
    onError: notifyError,
  });
}
