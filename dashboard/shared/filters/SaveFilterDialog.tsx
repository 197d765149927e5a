import { Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation } from '@tanstack/react-query';
import { accountApi } from '../../api/account.ts';
import type { SavedFilter } from '../../api/types.ts';
import { useWorkspace } from '../../session/workspace.ts';
import { notifySuccess } from '../feedback/notify.ts';
import { Dialog } from '../forms/Dialog.tsx';
import { FormActions } from '../forms/FormActions.tsx';
import { validateName } from '../forms/NameField.tsx';
import { useRefreshSavedFilters } from './use-saved-filters.ts';

export function SaveFilterDialog({
  list,
  filters,
  saved,
  onClose,
}: {
  list: string;
  filters: Record<string, string>;
  saved: readonly SavedFilter[];
  onClose: () => void;
}) {
  const { organization } = useWorkspace();
  const refresh = useRefreshSavedFilters();
  const form = useForm({
    initialValues: { name: '' },
    validate: { name: validateName },
  });
  const save = useMutation({
    mutationFn: (name: string) =>
      accountApi.saveFilter({ organization_guid: organization.guid, list, name, filters }),
    onSuccess: async ({ name }) => {
      await refresh();
      notifySuccess(`Saved as ${name}.`);
      onClose();
    },
  });
  const isTaken = saved.some(({ name }) => name === form.values.name.trim());
  return (
    <Dialog title="Save filters" onClose={onClose}>
      <form onSubmit={form.onSubmit(({ name }) => save.mutate(name.trim()))}>
        <Stack>
          <TextInput
            label="Name"
            maxLength={64}
            data-autofocus
            description={isTaken ? 'Replaces the saved filters with this name' : undefined}
            {...form.getInputProps('name')}
          />
          <FormActions action="Save" pending={save.isPending} error={save.error} onCancel={onClose} />
        </Stack>
      </form>
    </Dialog>
  );
}
