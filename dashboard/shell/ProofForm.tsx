import { Button, Divider, PasswordInput, Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { people } from '../../api/people.ts';
import { Problem } from '../../api/problem.ts';
import { Failure } from '../../shared/Failure.tsx';
import { Icon } from '../../shared/Icon.tsx';
import { signWithPasskey } from '../../shared/passkeys.ts';
import { useWorkspace } from '../../shell/workspace-context.ts';
import { CodeField } from '../login/CodeField.tsx';
import { plainCode } from '../login/codes.ts';

/** Asked in place of what a dialog is about. Who has an authenticator app is not believed for the password alone. */
export function ProofForm({ onProved }: { onProved: () => void }) {
  const { has_totp: hasTotp, passkey_count: passkeys } = useWorkspace().session.member;
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
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        passkey.reset();
        prove.mutate();
      }}
    >
      <Stack>
        <Text size="sm">
          This changes how you log in, so we make sure that it is you. For the next minutes you will not be
          asked again.
        </Text>
        {hasTotp ? (
          <CodeField {...field} />
        ) : (
          <PasswordInput
            label="Password"
            autoComplete="current-password"
            autoFocus
            required
            withAsterisk={false}
            {...field}
          />
        )}
        {problem instanceof Problem ? <Failure error={problem} /> : null}
        {problem && !(problem instanceof Problem) ? (
          <Text size="sm" c="red" role="alert">
            The passkey was not used. Try again, or use the {hasTotp ? 'code' : 'password'}.
          </Text>
        ) : null}
        <Button type="submit" loading={prove.isPending}>
          Confirm
        </Button>
        {passkeys > 0 ? (
          <>
            <Divider label="or" />
            <Button
              variant="default"
              leftSection={<Icon name="passkey" />}
              loading={passkey.isPending}
              onClick={() => {
                prove.reset();
                passkey.mutate();
              }}
            >
              Use a passkey
            </Button>
          </>
        ) : null}
      </Stack>
    </form>
  );
}
