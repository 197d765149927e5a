import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Dialog } from '../../shared/Dialog.tsx';
import { useWorkspace } from '../../shell/workspace-context.ts';
import { useSubscriptionCalls } from './calls.ts';
import { SigningKey } from './SigningKey.tsx';
import { SubscriptionForm } from './SubscriptionForm.tsx';

/** Create Webhook Subscription (specification, Subscriptions 2). */
export function CreateSubscription({ onClose }: { onClose: () => void }) {
  const { environment } = useWorkspace();
  const { create, listKey } = useSubscriptionCalls();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const creation = useMutation({
    mutationFn: create,
    gcTime: 0,
    onSuccess: () => queries.invalidateQueries({ queryKey: listKey }),
  });
  const created = creation.data;
  return (
    <Dialog
      wide
      title={created ? 'Its signing key' : `Create Webhook Subscription in ${environment}`}
      held={creation.isPending || created !== undefined}
      onClose={onClose}
    >
      {created ? (
        <SigningKey
          created={created}
          onStored={() => {
            onClose();
            void navigate({ to: '/subscriptions/$guid', params: { guid: created.guid } });
          }}
        />
      ) : (
        <SubscriptionForm
          pending={creation.isPending}
          error={creation.error}
          onSubmit={creation.mutate}
          onCancel={onClose}
        />
      )}
    </Dialog>
  );
}
