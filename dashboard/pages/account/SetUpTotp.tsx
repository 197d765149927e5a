import { Center, Group, Stack, Text, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { people } from '../../api/people.ts';
import { CopyButton } from '../../shared/CopyButton.tsx';
import { Dialog } from '../../shared/Dialog.tsx';
import { Failure } from '../../shared/Failure.tsx';
import { FormEnd } from '../../shared/FormEnd.tsx';
import { PageLoading } from '../../shared/PageLoading.tsx';
import { SecretOnce } from '../../shared/SecretOnce.tsx';
import { useWithProof } from '../../shell/proof.tsx';
import { SESSION_KEY } from '../../shell/session.ts';
import { plainCode } from '../login/codes.ts';
import { QrCode } from './QrCode.tsx';

export function SetUpTotp({ onClose }: { onClose: () => void }) {
  const queries = useQueryClient();
  const [code, setCode] = useState('');
  const withProof = useWithProof();
  const { data: begun, error } = useQuery({
    queryKey: ['totp'],
    queryFn: () => withProof(people.beginTotp),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    refetchOnWindowFocus: false,
  });
  const confirm = useMutation({
    mutationFn: () => people.confirmTotp(plainCode(code)),
    gcTime: 0,
    onSuccess: () => queries.invalidateQueries({ queryKey: SESSION_KEY }),
  });
  const codes = confirm.data?.recovery_codes;
  return (
    <Dialog
      title={codes ? 'Your recovery codes' : 'Set up the authenticator app'}
      held={confirm.isPending || codes !== undefined}
      onClose={onClose}
    >
      {error ? <Failure error={error} /> : null}
      {!begun && !error ? <PageLoading /> : null}
      {codes ? (
        <SecretOnce
          warning="Each of these works once in place of a code, when the phone is gone. Keep them where the phone is not."
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
            <Text size="sm">Scan this with your app, then type the code that it shows.</Text>
            <Center>
              <QrCode text={begun.uri} label="QR code for the authenticator app" />
            </Center>
            <Group gap={4} justify="center">
              <Text size="xs" ff="monospace" style={{ overflowWrap: 'anywhere' }} data-totp-secret>
                {begun.secret}
              </Text>
              <CopyButton value={begun.secret} label="Copy the secret" />
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
            <FormEnd action="Turn on" pending={confirm.isPending} error={confirm.error} onCancel={onClose} />
          </Stack>
        </form>
      ) : null}
    </Dialog>
  );
}
