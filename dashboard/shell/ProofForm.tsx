import { Button, Divider, PasswordInput, Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { people } from '../api/people.ts';
import { Problem } from '../api/problem.ts';
import { CodeField } from '../pages/login/CodeField.tsx';
import { plainCode } from '../pages/login/codes.ts';
import { Failure } from '../shared/Failure.tsx';
import { Icon } from '../shared/Icon.tsx';
import { signWithPasskey } from '../shared/passkeys.ts';
import { useWorkspace } from './workspace-context.ts';

/**
 * Asks who is there: for a code with an authenticator app, otherwise for the password, and in both cases for a passkey
 * instead. With `secondFactor` the password is no answer.
 */
export function ProofForm({
  secondFactor = false,
  onProved,
}: {
  secondFactor?: boolean;
  onProved: () => unknown;
}) {
  const { has_totp: hasTotp, passkey_count: passkeys } = useWorkspace().session.member;
  const typedProof = hasTotp ? 'code' : secondFactor ? undefined : 'password';
  const [typed, setTyped] = useState('');
  const prove = useMutation({
    mutationFn: () => (hasTotp ? people.proveByCode(plainCode(typed)) : people.proveByPassword(typed)),
    onSuccess: onProved,
  });
  const passkey = useMutation({
    mutationFn: () => signWithPasskey(people.proveByPasskey),
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
        {problem instanceof Problem ? <Failure error={problem} /> : null}
        {problem && !(problem instanceof Problem) ? (
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
