import { Button, Divider, PasswordInput, Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { accountApi } from '../api/account.ts';
import { ApiError, hasCode } from '../api/api-error.ts';
import { useRefreshSession } from '../session/session.ts';
import { useWorkspace } from '../session/workspace.ts';
import { ErrorAlert } from '../shared/feedback/ErrorAlert.tsx';
import { Icon } from '../shared/text/Icon.tsx';
import { CodeField } from './CodeField.tsx';
import { signWithPasskey } from './sign-with-passkey.ts';
import { plainCode } from './totp-code.ts';

/** Accepts the user's second factors; the password only if they have none and `secondFactor` is off. */
export function ProofForm({
  secondFactor = false,
  onProved,
}: {
  secondFactor?: boolean;
  onProved: () => unknown;
}) {
  const { has_totp: hasTotp, passkey_count: passkeys } = useWorkspace().session.member;
  const typedProof = hasTotp ? 'code' : secondFactor || passkeys > 0 ? undefined : 'password';
  const refreshSession = useRefreshSession();
  const [typed, setTyped] = useState('');
  const prove = useMutation({
    mutationFn: () =>
      hasTotp ? accountApi.proveByCode(plainCode(typed)) : accountApi.proveByPassword(typed),
    onSuccess: onProved,
    // The password is rejected if a second factor was added in another tab meanwhile.
    onError: (error) => (hasCode(error, 'proof_required') ? refreshSession() : undefined),
  });
  const passkey = useMutation({
    mutationFn: () => signWithPasskey(accountApi.proveByPasskey),
    onSuccess: onProved,
  });
  const error = prove.error ?? passkey.error;
  const field = {
    value: typed,
    onChange: ({ currentTarget }: React.ChangeEvent<HTMLInputElement>) => setTyped(currentTarget.value),
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        passkey.reset();
        prove.mutate();
      }}
    >
      <Stack ta="left">
        {typedProof === 'code' ? <CodeField {...field} /> : null}
        {typedProof === 'password' ? (
          <PasswordInput
            label="Password"
            autoComplete="current-password"
            autoFocus
            data-autofocus
            required
            withAsterisk={false}
            {...field}
          />
        ) : null}
        {error instanceof ApiError ? <ErrorAlert error={error} /> : null}
        {error && !(error instanceof ApiError) ? (
          <Text size="sm" c="red" role="alert">
            The passkey request was cancelled or failed. Try again
            {typedProof ? `, or enter your ${typedProof}` : ''}.
          </Text>
        ) : null}
        {typedProof ? (
          <Button type="submit" loading={prove.isPending}>
            Confirm
          </Button>
        ) : null}
        {typedProof && passkeys > 0 ? <Divider label="or" /> : null}
        {passkeys > 0 ? (
          <Button
            variant={typedProof ? 'default' : 'filled'}
            leftSection={<Icon name="passkey" />}
            loading={passkey.isPending}
            onClick={() => {
              prove.reset();
              passkey.mutate();
            }}
          >
            Use a passkey
          </Button>
        ) : null}
      </Stack>
    </form>
  );
}
