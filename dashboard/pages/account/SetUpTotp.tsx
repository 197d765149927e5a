import { Center, Group, Stack, Text, TextInput } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { accountApi } from '../../api/account.ts';
import { useWithProof } from '../../auth/proof.tsx';
import { plainCode } from '../../auth/totp-code.ts';
import { useRefreshSession } from '../../session/session.ts';
import { ErrorAlert } from '../../shared/feedback/ErrorAlert.tsx';
import { PageLoading } from '../../shared/feedback/PageLoading.tsx';
import { Dialog } from '../../shared/forms/Dialog.tsx';
import { FormActions } from '../../shared/forms/FormActions.tsx';
import { OneTimeSecret } from '../../shared/secrets/OneTimeSecret.tsx';
import { CopyButton } from '../../shared/text/CopyButton.tsx';
import { QrCode } from './QrCode.tsx';

export function SetUpTotp({ onClose }: { onClose: () => void }) {
  const refreshSession = useRefreshSession();
  const [code, setCode] = useState('');
  const withProof = useWithProof();
  const { data: begun, error } = useQuery({
    queryKey: ['totp'],
    queryFn: () => withProof(accountApi.beginTotp),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    refetchOnWindowFocus: false,
  });
  const confirm = useMutation({
    mutationFn: () => withProof(() => accountApi.confirmTotp(plainCode(code))),
    gcTime: 0,
    onSuccess: refreshSession,
  });
  const codes = confirm.data?.recovery_codes;
  return (
    <Dialog
      title={codes ? 'Recovery codes' : 'Set up authenticator app'}
      locked={confirm.isPending || codes !== undefined}
      onClose={onClose}
    >
      {error ? <ErrorAlert error={error} /> : null}
      {!begun && !error ? <PageLoading /> : null}
      {codes ? (
        <OneTimeSecret
          warning="Use a recovery code to log in if you lose your phone. Each code works once. Do not store them on the same phone."
          values={[{ name: 'recovery_codes', value: codes.join('\n') }]}
          filename="portico-recovery-codes.json"
          onStored={onClose}
        />
      ) : null}
      {begun && !codes ? (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            confirm.mutate();
          }}
        >
          <Stack>
            <Text size="sm">
              Scan the QR code with your authenticator app, then enter the code that it shows.
            </Text>
            <Center>
              <QrCode text={begun.uri} label="QR code for the authenticator app" />
            </Center>
            <Group gap={4} justify="center">
              <Text size="xs" ff="monospace" style={{ overflowWrap: 'anywhere' }} data-totp-secret>
                {begun.secret}
              </Text>
              <CopyButton value={begun.secret} label="Copy secret" />
            </Group>
            <TextInput
              label="Code"
              autoComplete="one-time-code"
              inputMode="numeric"
              autoFocus
              required
              withAsterisk={false}
              value={code}
              onChange={({ currentTarget }) => setCode(currentTarget.value)}
            />
            <FormActions
              action="Turn on"
              pending={confirm.isPending}
              error={confirm.error}
              onCancel={onClose}
            />
          </Stack>
        </form>
      ) : null}
    </Dialog>
  );
}
