import { Button, Group, Radio, Stack, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Bank } from '../../api/types.ts';
import { useEnvironmentApi } from '../../session/use-environment-api.ts';
import { useWorkspace } from '../../session/workspace.ts';
import { ErrorAlert } from '../../shared/feedback/ErrorAlert.tsx';

export function BankStep({ onDone }: { onDone: () => void }) {
  const { banks, bank, chooseBank, can, environment } = useWorkspace();
  const apiOf = useEnvironmentApi();
  const queries = useQueryClient();
  const [name, setName] = useState('');
  const sandboxBanks = banks.filter((candidate) => candidate.environment === 'sandbox');
  const create = useMutation({
    // The token determines the environment of a new bank.
    mutationFn: () => apiOf('sandbox').post<Bank>('/banks', { name: name.trim() }),
    onSuccess: async (created) => {
      await queries.invalidateQueries({ queryKey: ['banks'] });
      chooseBank(created);
    },
  });
  const isReady = bank !== undefined && environment === 'sandbox';
  return (
    <Stack gap="md" maw={520} py="sm">
      {sandboxBanks.length > 0 ? (
        <Radio.Group
          label="Use an existing bank"
          value={isReady ? bank.guid : ''}
          onChange={(guid) => {
            const chosen = sandboxBanks.find((candidate) => candidate.guid === guid);
            if (chosen) chooseBank(chosen);
          }}
        >
          <Stack gap="xs" mt="xs">
            {sandboxBanks.map(({ guid, name: label }) => (
              <Radio key={guid} value={guid} label={label} />
            ))}
          </Stack>
        </Radio.Group>
      ) : null}
      {can('banks:execute') ? (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            create.mutate();
          }}
        >
          <Group align="flex-end">
            <TextInput
              flex={1}
              label={sandboxBanks.length > 0 ? 'Or create a bank' : 'Bank name'}
              placeholder="Acme Bank"
              maxLength={128}
              value={name}
              onChange={({ currentTarget }) => setName(currentTarget.value)}
            />
            <Button
              type="submit"
              variant={isReady ? 'default' : 'filled'}
              disabled={name.trim() === ''}
              loading={create.isPending}
            >
              Create bank
            </Button>
          </Group>
        </form>
      ) : null}
      {create.error ? <ErrorAlert error={create.error} /> : null}
      <Group>
        <Button disabled={!isReady} onClick={onDone}>
          Continue{isReady ? ` with ${bank.name}` : ''}
        </Button>
      </Group>
    </Stack>
  );
}
