import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { Delivery } from '../../api/types.ts';
import { useWorkspace } from '../../session/workspace.ts';
import { notifyFailure } from '../feedback/notify.ts';

export type Redelivery = Pick<Delivery, 'subscription_event_guid' | 'subscription_guid'>;

/** The result is the new delivery, whose outcome `DeliveryProgress` shows. */
export function useRedeliver() {
  const { api } = useWorkspace();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: ({ subscription_event_guid, subscription_guid }: Redelivery) =>
      api.post<Delivery>('/subscription_deliveries', { subscription_event_guid, subscription_guid }),
    onSuccess: () => queries.invalidateQueries({ queryKey: [api.key, '/subscription_deliveries'] }),
    onError: notifyFailure('Could not resend'),
  });
}
