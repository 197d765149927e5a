import { Stack } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import type { CreatedApplication } from '../../api/types.ts';
import { useLeaveGuard } from '../../shared/forms/LeaveGuard.tsx';
import { useChangedForm } from '../../shared/forms/use-changed-form.ts';
import { KeyForm } from '../keys/KeyForm.tsx';
import { KeySecret } from '../keys/KeySecret.tsx';
import { readScopesOf } from '../keys/scopes/read-scopes.ts';
import { useKeyApi } from '../keys/use-key-api.ts';

export function KeyStep({
  onCreated,
  onDone,
}: {
  onCreated: (created: CreatedApplication) => void;
  onDone: () => void;
}) {
  const keyApi = useKeyApi('bank');
  const create = useMutation({ mutationFn: keyApi.create, gcTime: 0, onSuccess: onCreated });
  const { isChanged, handlers } = useChangedForm();
  useLeaveGuard(isChanged);
  return (
    <Stack maw={620} py="sm" {...handlers}>
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
