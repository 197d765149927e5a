import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useWorkspace } from '../../session/workspace.ts';
import { Dialog } from '../../shared/forms/Dialog.tsx';
import { SigningKeySecret } from './SigningKeySecret.tsx';
import { SubscriptionForm } from './SubscriptionForm.tsx';
import { useSubscriptionApi } from './use-subscription-api.ts';

export function CreateSubscription({
  initialName = '',
  initialUrl = '',
  onClose,
}: {
  initialName?: string;
  initialUrl?: string;
  onClose: () => void;
}) {
  const { environment } = useWorkspace();
  const { create } = useSubscriptionApi();
  const navigate = useNavigate();
  const creation = useMutation({ mutationFn: create, gcTime: 0 });
  const created = creation.data;
  return (
    <Dialog
      wide
      title={created ? 'Signing key' : `Create Webhook Subscription in ${environment}`}
      locked={creation.isPending || created !== undefined}
      onClose={onClose}
    >
      {created ? (
        <SigningKeySecret
          created={created}
          onStored={() => {
            onClose();
            void navigate({ to: '/subscriptions/$guid', params: { guid: created.guid } });
          }}
        />
      ) : (
        <SubscriptionForm
          initialName={initialName}
          initialUrl={initialUrl}
          pending={creation.isPending}
          error={creation.error}
          onSubmit={creation.mutate}
          onCancel={onClose}
        />
      )}
    </Dialog>
  );
}
