import { Button, Group, Modal, Stack, Stepper, Text } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Application } from '../../api/types.ts';
import { Failure } from '../../shared/Failure.tsx';
import { Icon } from '../../shared/Icon.tsx';
import { tell } from '../../shared/notify.ts';
import { useWorkspace } from '../../shell/workspace-context.ts';
import { KeySecret } from './KeySecret.tsx';
import { type KeyKind, listKeyOf, useKeyCalls } from './kinds.ts';

const LOOK_EVERY_MS = 3_000;

/** A second pair beside the first, seen to work, and only then the first removed. */
export function RotateKey({
  kind,
  application,
  onClose,
}: {
  kind: KeyKind;
  application: Application;
  onClose: () => void;
}) {
  const [step, setStep] = useState(0);
  const workspace = useWorkspace();
  const queries = useQueryClient();
  const calls = useKeyCalls(kind);
  const refresh = () => queries.invalidateQueries({ queryKey: listKeyOf(workspace, calls) });
  const { name, scopes, ip_allowlist } = application;
  const create = useMutation({
    mutationFn: () => calls.create({ name, scopes, ip_allowlist }),
    gcTime: 0,
    onSuccess: refresh,
  });
  const created = create.data;
  const { data: used } = useQuery({
    queryKey: [...listKeyOf(workspace, calls), 'used', created?.client_id],
    queryFn: () => calls.get(created?.client_id ?? ''),
    enabled: step === 1 && created !== undefined,
    refetchInterval: LOOK_EVERY_MS,
  });
  const isUsed = used?.last_used_at !== undefined;
  const remove = useMutation({
    mutationFn: () => calls.remove(application.client_id),
    onSuccess: async () => {
      await refresh();
      tell(`${name} is rotated; the old pair is removed.`);
      onClose();
    },
  });
  return (
    <Modal
      opened
      size="lg"
      onClose={onClose}
      title={`Rotate ${name}`}
      closeOnClickOutside={false}
      // The secret cannot be shown again, so a stray key must not close it.
      closeOnEscape={!created || step > 0}
      withCloseButton={!created || step > 0}
    >
      <Stepper active={step} size="sm" mb="lg">
        <Stepper.Step label="New pair" />
        <Stepper.Step label="Deploy it" />
        <Stepper.Step label="Remove the old" />
      </Stepper>
      {step === 0 && !created ? (
        <Stack>
          <Text size="sm">
            A second pair with the same name, scopes and addresses is generated. The old one goes on working
            until you remove it in the last step.
          </Text>
          {create.error ? <Failure error={create.error} /> : null}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button loading={create.isPending} onClick={() => create.mutate()}>
              Generate the new pair
            </Button>
          </Group>
        </Stack>
      ) : null}
      {step === 0 && created ? (
        <KeySecret created={created} onStored={() => setStep(1)} doneLabel="Next: deploy it" />
      ) : null}
      {step === 1 ? (
        <Stack>
          <Text size="sm">
            Put the new pair into your program. This page looks every few seconds whether it was used.
          </Text>
          <Group gap="xs" c={isUsed ? 'teal' : 'dimmed'} role="status">
            <Icon name={isUsed ? 'check' : 'refresh'} size={16} />
            <Text size="sm" c="inherit">
              {isUsed ? `The new pair works: a call came from ${used.last_used_ip}.` : 'Not used so far …'}
            </Text>
          </Group>
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Finish later
            </Button>
            <Button onClick={() => setStep(2)} variant={isUsed ? 'filled' : 'light'}>
              {isUsed ? 'Next: remove the old one' : 'It works, go on'}
            </Button>
          </Group>
        </Stack>
      ) : null}
      {step === 2 ? (
        <Stack>
          <Text size="sm">
            Removing the old pair ends its tokens at once. Be sure that nothing uses it any more
            {application.last_used_ip ? `; it was last used from ${application.last_used_ip}` : ''}.
          </Text>
          {remove.error ? <Failure error={remove.error} /> : null}
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Keep it for now
            </Button>
            <Button color="red" loading={remove.isPending} onClick={() => remove.mutate()}>
              Remove the old pair
            </Button>
          </Group>
        </Stack>
      ) : null}
    </Modal>
  );
}
