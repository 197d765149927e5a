import { Stack, Text } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { Subscription } from '../../api/types.ts';
import { useWorkspace } from '../../session/workspace.ts';
import { notifyError, notifySuccess } from '../../shared/feedback/notify.ts';
import { RotationDialog } from '../../shared/secrets/RotationDialog.tsx';
import { SigningKeySecret } from './SigningKeySecret.tsx';
import { SubscriptionForm } from './SubscriptionForm.tsx';
import { useSubscriptionApi } from './use-subscription-api.ts';

const LOOK_EVERY_MS = 3_000;

/** A second subscription with a key of its own; once it is active, the first is deleted and delivers a day more. */
export function RollSigningKey({
  subscription,
  onClose,
}: {
  subscription: Subscription;
  onClose: () => void;
}) {
  const { api } = useWorkspace();
  const calls = useSubscriptionApi();
  const queries = useQueryClient();
  const refresh = () => queries.invalidateQueries({ queryKey: calls.listKey });
  const creation = useMutation({ mutationFn: calls.create, gcTime: 0, onSuccess: refresh });
  const created = creation.data;
  const { data: current } = useQuery({
    queryKey: [...calls.listKey, created?.guid],
    queryFn: () => api.get<Subscription>(`/subscriptions/${created?.guid}`),
    enabled: created !== undefined,
    refetchInterval: LOOK_EVERY_MS,
  });
  // While a subscription is not active, a test event retries its first event at once.
  const test = useMutation({
    mutationFn: async () => created && calls.sendTest(created.guid),
    onError: notifyError,
  });
  const removal = useMutation({
    mutationFn: () => calls.remove(subscription.guid),
    onSuccess: async () => {
      await refresh();
      notifySuccess('Rolled. For 24 hours both deliver, so nothing is missed.');
      onClose();
    },
  });
  return (
    <RotationDialog
      title={`Roll the signing key of ${subscription.name}`}
      steps={['New key', 'Accept both', 'Retire the old']}
      pending={creation.isPending}
      form={
        <Stack>
          <Text size="sm">
            A signing key belongs to its subscription, so a new one is created beside it. The same address may
            be used if your endpoint tries both keys, or use another address for the new one.
          </Text>
          <SubscriptionForm
            initialName={subscription.name}
            initialUrl={subscription.url}
            action="Create the new one"
            pending={creation.isPending}
            error={creation.error}
            onSubmit={creation.mutate}
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
      proof={{
        text: 'Let your endpoint accept a signature by either key. The new subscription becomes active with its first 2xx. From then on events come twice; deduplicate them by their guid.',
        isThere: current?.state === 'active',
        there: 'The new subscription is active.',
        missing: 'No 2xx with the new key so far …',
        next: 'Next: retire the old key',
        retry: { action: 'Retry now', pending: test.isPending, onRetry: () => test.mutate() },
      }}
      retirement={{
        text: 'The old subscription is deleted in 24 hours and delivers until then. After that your endpoint no longer needs its key.',
        action: 'Delete the old one in 24 hours',
        pending: removal.isPending,
        error: removal.error,
        onRetire: removal.mutate,
      }}
      onClose={onClose}
    />
  );
}
