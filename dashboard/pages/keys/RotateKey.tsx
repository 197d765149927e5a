import { Stack, Text } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import type { Application } from '../../api/types.ts';
import { notifySuccess } from '../../shared/feedback/notify.ts';
import { RotationDialog } from '../../shared/secrets/RotationDialog.tsx';
import { GuideLink } from '../../shared/text/GuideLink.tsx';
import { KeyForm } from './KeyForm.tsx';
import { KeySecret } from './KeySecret.tsx';
import { type KeyDialogProps, useKeyApi } from './use-key-api.ts';

const POLL_MS = 3_000;

export function RotateKey({
  kind,
  application,
  replacement,
  onClose,
}: KeyDialogProps & {
  /** Of a rotation in progress, which continues. */
  replacement?: Application | undefined;
}) {
  const keyApi = useKeyApi(kind);
  const { name, scopes, ip_allowlist, last_used_ip: lastUsedIp } = application;
  const create = useMutation({ mutationFn: keyApi.create, gcTime: 0 });
  const created = create.data;
  const newClientId = created?.client_id ?? replacement?.client_id;
  const { data: used } = useQuery({
    queryKey: [...keyApi.listKey, 'used', newClientId],
    queryFn: () => keyApi.get(newClientId ?? ''),
    enabled: newClientId !== undefined,
    refetchInterval: POLL_MS,
  });
  const remove = useMutation({
    mutationFn: () => keyApi.remove(application.client_id),
    onSuccess: () => {
      notifySuccess(`${name} was rotated. The old key pair was deleted.`);
      onClose();
    },
  });
  return (
    <RotationDialog
      title={`Rotate ${name}`}
      steps={['New key', 'Deploy', 'Delete old']}
      pending={create.isPending}
      form={
        <Stack>
          <Text size="sm">
            This generates a second key pair with the same scopes and IP allowlist, unless you change them
            here. The old key pair keeps working until you delete it in the last step.{' '}
            <GuideLink guide="rolling-keys#client-secret" inherit underline="always" />
          </Text>
          <KeyForm
            kind={kind}
            isNew
            initial={{ name, scopes, ip_allowlist }}
            action="Generate new key"
            pending={create.isPending}
            error={create.error}
            onSubmit={(input) => create.mutate({ ...input, replaces_client_id: application.client_id })}
            onCancel={onClose}
          />
        </Stack>
      }
      secret={
        created &&
        ((onStored) => <KeySecret created={created} onStored={onStored} doneLabel="Next: deploy" />)
      }
      verification={{
        text: 'Deploy the new key pair to your application. This page checks every few seconds whether it is in use.',
        isVerified: used?.last_used_at !== undefined,
        verified: `The new key pair is in use${used?.last_used_ip ? `, last from ${used.last_used_ip}` : ''}.`,
        waiting: 'Waiting for the first use …',
        next: 'Next: delete old key',
        skip: 'Continue without waiting',
      }}
      removal={{
        text: `Deleting the old key pair revokes its tokens immediately. Make sure that nothing uses it any more.${lastUsedIp ? ` It was last used from ${lastUsedIp}.` : ''}`,
        action: 'Delete old key',
        pending: remove.isPending,
        error: remove.error,
        onRemove: remove.mutate,
      }}
      continued={replacement !== undefined}
      onClose={onClose}
    />
  );
}
