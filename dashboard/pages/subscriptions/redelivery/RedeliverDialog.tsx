import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { Recovery } from '../../../api/types.ts';
import { useWorkspace } from '../../../session/workspace.ts';
import { Dialog } from '../../../shared/forms/Dialog.tsx';
import { type NamedSubscription, type NewRedelivery, RedeliverForm } from './RedeliverForm.tsx';
import { RedeliveryProgress } from './RedeliveryProgress.tsx';

const POLL_MS = 1_000;

export function RedeliverDialog({
  subscription,
  onClose,
}: {
  subscription: NamedSubscription | undefined;
  onClose: () => void;
}) {
  const { api } = useWorkspace();
  const queries = useQueryClient();
  const start = useMutation({
    mutationFn: (input: NewRedelivery) => api.post<Recovery>('/subscription_recoveries', input),
    onSuccess: () => queries.invalidateQueries({ queryKey: [api.key, '/subscription_recoveries'] }),
  });
  const { data: redelivery = start.data } = useQuery({
    queryKey: [api.key, '/subscription_recoveries', start.data?.guid],
    queryFn: () => api.get<Recovery>(`/subscription_recoveries/${start.data?.guid}`),
    enabled: start.data !== undefined,
    refetchInterval: ({ state }) => (state.data && state.data.state !== 'running' ? false : POLL_MS),
  });
  const finish = () => {
    void queries.invalidateQueries({ queryKey: [api.key, '/subscription_deliveries'] });
    onClose();
  };
  return (
    <Dialog wide title="Redeliver events" locked={start.isPending} onClose={finish}>
      {redelivery ? (
        <RedeliveryProgress redelivery={redelivery} onClose={finish} />
      ) : (
        <RedeliverForm
          subscription={subscription}
          onSubmit={start.mutate}
          onCancel={onClose}
          pending={start.isPending}
          error={start.error}
        />
      )}
    </Dialog>
  );
}
