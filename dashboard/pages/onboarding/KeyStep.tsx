import { Stack } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { CreatedApplication } from '../../api/types.ts';
import { useWorkspace } from '../../session/workspace.ts';
import { KeyForm } from '../keys/KeyForm.tsx';
import { KeySecret } from '../keys/KeySecret.tsx';
import { readScopesOf } from '../keys/scopes/read-scopes.ts';
import { listKeyOf, useKeyApi } from '../keys/use-key-api.ts';

export function KeyStep({
  onCreated,
  onDone,
}: {
  onCreated: (created: CreatedApplication) => void;
  onDone: () => void;
}) {
  const workspace = useWorkspace();
  const queries = useQueryClient();
  const keyApi = useKeyApi('bank');
  const create = useMutation({
    mutationFn: keyApi.create,
    gcTime: 0,
    onSuccess: async (created) => {
      onCreated(created);
      await queries.invalidateQueries({ queryKey: listKeyOf(workspace, keyApi) });
    },
  });
  return (
    <Stack maw={620} py="sm">
      {create.data ? (
        <KeySecret created={create.data} onStored={onDone} doneLabel="Continue" />
      ) : (
        <KeyForm
          kind="bank"
          isNew
          initial={{
            name: 'First key',
            scopes: readScopesOf('bank'),
            ip_allowlist: [],
          }}
          action="Generate bank key"
          cancel="I already have a key"
          pending={create.isPending}
          error={create.error}
          onSubmit={create.mutate}
          onCancel={onDone}
        />
      )}
    </Stack>
  );
}
