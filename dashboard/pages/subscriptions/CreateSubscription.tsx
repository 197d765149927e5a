import { Modal } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
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
    <Modal
      opened
      size="lg"
      onClose={onClose}
      title={created ? 'Its signing key' : `Create Webhook Subscription in ${environment}`}
      closeOnClickOutside={!created}
      closeOnEscape={!created}
      withCloseButton={!created}
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
    </Modal>
  );
}
