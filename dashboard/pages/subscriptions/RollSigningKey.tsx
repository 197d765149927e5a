import { Button, Group, Modal, Stack, Stepper, Text } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Subscription } from '../../api/types.ts';
import { Failure } from '../../shared/Failure.tsx';
import { Icon } from '../../shared/Icon.tsx';
import { tell } from '../../shared/notify.ts';
import { useWorkspace } from '../../shell/workspace-context.ts';
import { useSubscriptionCalls } from './calls.ts';
import { SigningKey } from './SigningKey.tsx';
import { SubscriptionForm } from './SubscriptionForm.tsx';

const LOOK_EVERY_MS = 3_000;

/** A second subscription with a key of its own; once it is active, the first is deleted and delivers a day more. */
export function RollSigningKey({
  subscription,
  onClose,
}: {
  subscription: Subscription;
  onClose: () => void;
}) {
  const [step, setStep] = useState(0);
  const { api } = useWorkspace();
  const calls = useSubscriptionCalls();
  const queries = useQueryClient();
  const refresh = () => queries.invalidateQueries({ queryKey: calls.listKey });
  const creation = useMutation({ mutationFn: calls.create, gcTime: 0, onSuccess: refresh });
  const created = creation.data;
  const { data: current } = useQuery({
    queryKey: [...calls.listKey, created?.guid],
    queryFn: () => api.get<Subscription>(`/subscriptions/${created?.guid}`),
    enabled: step === 1 && created !== undefined,
    refetchInterval: LOOK_EVERY_MS,
  });
  const isActive = current?.state === 'active';
  const removal = useMutation({
    mutationFn: () => calls.remove(subscription.guid),
    onSuccess: async () => {
      await refresh();
      tell('Rolled. For 24 hours both deliver, so nothing is missed.');
      onClose();
    },
  });
  return (
    <Modal
      opened
      size="lg"
      onClose={onClose}
      title={`Roll the signing key of ${subscription.name}`}
      closeOnClickOutside={false}
      // The secret cannot be shown again, so a stray key must not close it.
      closeOnEscape={!created || step > 0}
      withCloseButton={!created || step > 0}
    >
      <Stepper active={step} size="sm" mb="lg">
        <Stepper.Step label="New key" />
        <Stepper.Step label="Accept both" />
        <Stepper.Step label="Retire the old" />
      </Stepper>
      {step === 0 && !created ? (
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
      ) : null}
      {step === 0 && created ? (
        <SigningKey created={created} onStored={() => setStep(1)} doneLabel="Next: accept both keys" />
      ) : null}
      {step === 1 ? (
        <Stack>
          <Text size="sm">
            Let your endpoint accept a signature by either key. The new subscription becomes active with its
            first 2xx. Events come twice from now on; deduplicate them by their guid.
          </Text>
          <Group gap="xs" c={isActive ? 'teal' : 'dimmed'} role="status">
            <Icon name={isActive ? 'check' : 'refresh'} size={16} />
            <Text size="sm" c="inherit">
              {isActive ? 'The new subscription is active.' : 'No 2xx with the new key so far …'}
            </Text>
          </Group>
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Finish later
            </Button>
            <Button onClick={() => setStep(2)} disabled={!isActive}>
              Next: retire the old key
            </Button>
          </Group>
        </Stack>
      ) : null}
      {step === 2 ? (
        <Stack>
          <Text size="sm">
            The old subscription is deleted in 24 hours and delivers until then. After that your endpoint no
            longer needs its key.
          </Text>
          {removal.error ? <Failure error={removal.error} /> : null}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Keep it for now
            </Button>
            <Button color="red" loading={removal.isPending} onClick={() => removal.mutate()}>
              Delete the old one in 24 hours
            </Button>
          </Group>
        </Stack>
      ) : null}
    </Modal>
  );
}
