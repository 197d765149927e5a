import { Stack, Text } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useWorkspace } from '../../session/workspace.ts';
import { notifySuccess } from '../../shared/feedback/notify.ts';
import { RotationDialog } from '../../shared/secrets/RotationDialog.tsx';
import { KeyForm } from './KeyForm.tsx';
import { KeySecret } from './KeySecret.tsx';
import { type KeyDialogProps, listKeyOf, useKeyApi } from './use-key-api.ts';

const LOOK_EVERY_MS = 3_000;

/** A second pair beside the first, seen to work, and only then the first removed. */
export function RotateKey({ kind, application, onClose }: KeyDialogProps) {
  const workspace = useWorkspace();
  const queries = useQueryClient();
  const calls = useKeyApi(kind);
  const refresh = () => queries.invalidateQueries({ queryKey: listKeyOf(workspace, calls) });
  const { name, scopes, ip_allowlist, last_used_ip: lastUsedIp } = application;
  const create = useMutation({ mutationFn: calls.create, gcTime: 0, onSuccess: refresh });
  const created = create.data;
  const { data: used } = useQuery({
    queryKey: [...listKeyOf(workspace, calls), 'used', created?.client_id],
    queryFn: () => calls.get(created?.client_id ?? ''),
    enabled: created !== undefined,
    refetchInterval: LOOK_EVERY_MS,
  });
  const remove = useMutation({
    mutationFn: () => calls.remove(application.client_id),
    onSuccess: async () => {
      await refresh();
      notifySuccess(`${name} is rotated; the old pair is removed.`);
      onClose();
    },
  });
  return (
    <RotationDialog
      title={`Rotate ${name}`}
      steps={['New pair', 'Deploy it', 'Remove the old']}
      pending={create.isPending}
      form={
        <Stack>
          <Text size="sm">
            A second pair is generated, with the same scopes and addresses unless you change them here. The
            old one goes on working until you remove it in the last step.
          </Text>
          <KeyForm
            kind={kind}
            isNew
            initial={{ name, scopes, ip_allowlist }}
            action="Generate the new pair"
            pending={create.isPending}
            error={create.error}
            onSubmit={create.mutate}
            onCancel={onClose}
          />
        </Stack>
      }
      secret={
        created &&
        ((onStored) => <KeySecret created={created} onStored={onStored} doneLabel="Next: deploy it" />)
      }
      proof={{
        text: 'Put the new pair into your program. This page looks every few seconds whether it was used.',
        isThere: used?.last_used_at !== undefined,
        there: `The new pair works: ${used?.last_used_ip ? `a call came from ${used.last_used_ip}` : 'it was used'}.`,
        missing: 'Not used so far …',
        next: 'Next: remove the old one',
        word: 'It works, go on',
      }}
      retirement={{
        text: `Removing the old pair ends its tokens at once. Be sure that nothing uses it any more${lastUsedIp ? `; it was last used from ${lastUsedIp}` : ''}.`,
        action: 'Remove the old pair',
        pending: remove.isPending,
        error: remove.error,
        onRetire: remove.mutate,
      }}
      onClose={onClose}
    />
  );
}
