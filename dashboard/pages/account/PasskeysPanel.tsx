import { Button, Group, Skeleton, Stack, Text, TextInput } from '@mantine/core';
import { startRegistration } from '@simplewebauthn/browser';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { people } from '../../api/people.ts';
import { Problem } from '../../api/problem.ts';
import { Failure } from '../../shared/Failure.tsx';
import { Moment } from '../../shared/Moment.tsx';
import { tell, tellProblem } from '../../shared/notify.ts';
import { Panel } from '../../shared/Panel.tsx';

const KEY = ['account', 'passkeys'] as const;

/** Logging in with the device itself, without a password. */
export function PasskeysPanel() {
  const queries = useQueryClient();
  const [name, setName] = useState('');
  const { data, error, refetch } = useQuery({ queryKey: KEY, queryFn: people.passkeys });
  const refresh = () => queries.invalidateQueries({ queryKey: KEY });
  const add = useMutation({
    mutationFn: async () => {
      const optionsJSON = await people.passkeyOptions();
      return await people.addPasskey(name.trim(), await startRegistration({ optionsJSON }));
    },
    onSuccess: async () => {
      setName('');
      await refresh();
      tell('The passkey works from now on.');
    },
  });
  const remove = useMutation({ mutationFn: people.removePasskey, onSuccess: refresh, onError: tellProblem });
  return (
    <Panel title="Passkeys" hint="Log in with your fingerprint, face or security key">
      <Stack gap="sm">
        {error ? <Failure error={error} onRetry={() => void refetch()} /> : null}
        {!data && !error ? <Skeleton height={36} /> : null}
        {data?.objects.length === 0 ? (
          <Text size="sm" c="dimmed">
            None yet. Name this device and add it.
          </Text>
        ) : null}
        {data?.objects.map(({ guid, name: label, created_at: created, last_used_at: used }) => (
          <Group key={guid} justify="space-between" wrap="nowrap">
            <div>
              <Text size="sm" fw={600}>
                {label}
              </Text>
              <Text size="xs" c="dimmed" component="div">
                {used ? 'Last used ' : 'Added '}
                <Moment at={used ?? created} />
              </Text>
            </div>
            <Button
              variant="subtle"
              color="red"
              size="compact-sm"
              onClick={() => remove.mutate(guid)}
              aria-label={`Remove ${label}`}
            >
              Remove
            </Button>
          </Group>
        ))}
        <form
          onSubmit={(event) => {
            event.preventDefault();
            add.mutate();
          }}
        >
          <Group align="flex-end">
            <TextInput
              flex={1}
              label="Name of a new one"
              placeholder="My laptop"
              maxLength={64}
              value={name}
              onChange={({ currentTarget }) => setName(currentTarget.value)}
            />
            <Button type="submit" variant="default" disabled={name.trim() === ''} loading={add.isPending}>
              Add a passkey
            </Button>
          </Group>
        </form>
        {add.error instanceof Problem ? <Failure error={add.error} /> : null}
        {add.error && !(add.error instanceof Problem) ? (
          <Text size="sm" c="red" role="alert">
            The browser did not make one. It may have been cancelled, or this device has one already.
          </Text>
        ) : null}
      </Stack>
    </Panel>
  );
}
