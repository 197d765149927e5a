import { Stack, Text } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import type { Subscription } from '../../../api/types.ts';
import { useWorkspace } from '../../../session/workspace.ts';
import { notifyFailure, notifySuccess } from '../../../shared/feedback/notify.ts';
import { RotationDialog } from '../../../shared/secrets/RotationDialog.tsx';
import { GuideLink } from '../../../shared/text/GuideLink.tsx';
import { SigningKeySecret } from '../SigningKeySecret.tsx';
import { SubscriptionForm } from '../SubscriptionForm.tsx';
import { useSubscriptionApi } from '../use-subscription-api.ts';

const POLL_MS = 3_000;

/** Creates a second subscription with its own key; once it is active, the old one is deleted after 24 hours. */
export function RollSigningKey({
  subscription,
  replacement,
  onClose,
}: {
  subscription: Subscription;
  /** Of a roll in progress, which continues. */
  replacement?: Subscription | undefined;
  onClose: () => void;
}) {
  const { api } = useWorkspace();
  const calls = useSubscriptionApi();
  const creation = useMutation({ mutationFn: calls.create, gcTime: 0 });
  const created = creation.data;
  const newGuid = created?.guid ?? replacement?.guid;
  const { data: current } = useQuery({
    queryKey: [...calls.listKey, newGuid],
    queryFn: () => api.get<Subscription>(`/subscriptions/${newGuid}`),
    enabled: newGuid !== undefined,
    refetchInterval: POLL_MS,
  });
  // Until the subscription is active, a test event retries its first event.
  const test = useMutation({
    mutationFn: async () => newGuid && calls.sendTest(newGuid),
    onError: notifyFailure('Could not send the test event'),
  });
  const removal = useMutation({
    mutationFn: () => calls.remove(subscription.guid),
    onSuccess: () => {
      notifySuccess('Signing key rolled. Both subscriptions deliver for the next 24 hours.');
      onClose();
    },
  });
  return (
    <RotationDialog
      title={`Roll signing key: ${subscription.name}`}
      steps={['New key', 'Accept both', 'Delete old']}
      pending={creation.isPending}
      form={
        <Stack>
          <Text size="sm">
            A signing key belongs to one subscription, so this creates a second subscription. Use the same URL
            if your endpoint can try both keys, or a new URL otherwise.{' '}
            <GuideLink guide="rolling-keys#signing-key" inherit underline="always" />
          </Text>
          <SubscriptionForm
            initialName={subscription.name}
            initialUrl={subscription.url}
            action="Create new key"
            pending={creation.isPending}
            error={creation.error}
            onSubmit={(input) => creation.mutate({ ...input, replaces_guid: subscription.guid })}
            onCancel={onClose}
          />
        </Stack>
      }
      secret={
        created &&
        ((onStored) => (
          <SigningKeySecret created={created} onStored={onStored} doneLabel="Next: accept both keys" />
        ))
      }
      verification={{
        text: 'Make your endpoint accept signatures of both keys. The new subscription becomes active with its first 2xx response. From then on you receive each event twice: deduplicate by guid.',
        isVerified: current?.state === 'active',
        verified: 'The new subscription is active.',
        waiting: 'Waiting for a 2xx response with the new key …',
        next: 'Next: delete old subscription',
        retry: { action: 'Retry now', pending: test.isPending, onRetry: () => test.mutate() },
      }}
      removal={{
        text: 'The old subscription keeps delivering for 24 hours and is then deleted. After that you can remove its key from your endpoint.',
        action: 'Delete old subscription in 24 hours',
        pending: removal.isPending,
        error: removal.error,
        onRemove: removal.mutate,
      }}
      continued={replacement !== undefined}
      onClose={onClose}
    />
  );
}
