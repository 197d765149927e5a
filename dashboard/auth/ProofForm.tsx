import { Button, Divider, PasswordInput, Stack, Text } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { accountApi } from '../api/account.ts';
import { ApiError, hasCode } from '../api/api-error.ts';
import { SESSION_KEY } from '../session/session.ts';
import { useWorkspace } from '../session/workspace.ts';
import { ErrorAlert } from '../shared/feedback/ErrorAlert.tsx';
import { Icon } from '../shared/text/Icon.tsx';
import { CodeField } from './CodeField.tsx';
import { signWithPasskey } from './sign-with-passkey.ts';
import { plainCode } from './totp-code.ts';

/**
 * Asks for a code of the authenticator app, a passkey, or both where the person has both; for the password only if they
 * have neither. With `secondFactor` the password is no answer.
 */
export function ProofForm({
  secondFactor = false,
  onProved,
}: {
  secondFactor?: boolean;
  onProved: () => unknown;
}) {
  const { has_totp: hasTotp, passkey_count: passkeys } = useWorkspace().session.member;
  const typedProof = hasTotp ? 'code' : secondFactor || passkeys > 0 ? undefined : 'password';
  const queries = useQueryClient();
  const [typed, setTyped] = useState('');
  const prove = useMutation({
    mutationFn: () =>
      hasTotp ? accountApi.proveByCode(plainCode(typed)) : accountApi.proveByPassword(typed),
    onSuccess: onProved,
    // The person has got a second factor meanwhile, in another tab or browser: what is offered here is out of date.
    onError: (error) =>
      hasCode(error, 'proof_required') ? queries.invalidateQueries({ queryKey: SESSION_KEY }) : undefined,
  });
  const passkey = useMutation({
    mutationFn: () => signWithPasskey(accountApi.proveByPasskey),
    onSuccess: onProved,
  });
  const problem = prove.error ?? passkey.error;
  const field = {
    value: typed,
    onChange: ({ currentTarget }: React.ChangeEvent<HTMLInputElement>) => setTyped(currentTarget.value),
  };
  const byPasskey = (
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
  );
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
        {problem instanceof ApiError ? <ErrorAlert error={problem} /> : null}
        {problem && !(problem instanceof ApiError) ? (
          <Text size="sm" c="red" role="alert">
            The passkey was not used. Try again{typedProof ? `, or use your ${typedProof}` : ''}.
          </Text>
        ) : null}
        {typedProof ? (
          <Button type="submit" loading={prove.isPending}>
            Confirm
          </Button>
        ) : null}
        {typedProof && passkeys > 0 ? <Divider label="or" /> : null}
        {passkeys > 0 ? byPasskey : null}
      </Stack>
    </form>
  );
}
