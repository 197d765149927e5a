import { Stack, Text } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { tell } from '../../shared/notify.ts';
import { Replacement } from '../../shared/Replacement.tsx';
import { useWorkspace } from '../../shell/workspace-context.ts';
import { KeyForm } from './KeyForm.tsx';
import { KeySecret } from './KeySecret.tsx';
import { type KeyDialogProps, listKeyOf, useKeyCalls } from './kinds.ts';

const LOOK_EVERY_MS = 3_000;

/** A second pair beside the first, seen to work, and only then the first removed. */
export function RotateKey({ kind, application, onClose }: KeyDialogProps) {
  const workspace = useWorkspace();
  const queries = useQueryClient();
  const calls = useKeyCalls(kind);
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
      tell(`${name} is rotated; the old pair is removed.`);
      onClose();
    },
  });
  return (
    <Replacement
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
