import { Button } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { Recovery } from '../../../api/types.ts';
import { useWorkspace } from '../../../session/workspace.ts';
import { notifyFailure } from '../../../shared/feedback/notify.ts';

/** The outcome is shown by the job itself, which may have completed meanwhile. */
export function CancelRedelivery({
  redelivery: { guid, state },
  size = 'sm',
}: {
  redelivery: Recovery;
  size?: 'sm' | 'compact-sm';
}) {
  const { api, can } = useWorkspace();
  const queries = useQueryClient();
  const cancel = useMutation({
    mutationFn: () => api.remove<Recovery>(`/subscription_recoveries/${guid}`),
    onSuccess: () => queries.invalidateQueries({ queryKey: [api.key, '/subscription_recoveries'] }),
    onError: notifyFailure('Could not cancel the redelivery'),
  });
  if (state !== 'running' || !can('subscription_events:execute')) return null;
  return (
    <Button variant="default" size={size} loading={cancel.isPending} onClick={() => cancel.mutate()}>
      Cancel redelivery
    </Button>
  );
}
