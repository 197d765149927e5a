import { Stack } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation } from '@tanstack/react-query';
import { Dialog } from './Dialog.tsx';
import { FormActions } from './FormActions.tsx';
import { NameField, validateName } from './NameField.tsx';

/** Asks for a name: of a new thing, or another one for an existing thing. */
export function NameDialog({
  title,
  action,
  initial = '',
  onSave,
  onClose,
}: {
  title: string;
  action: string;
  initial?: string;
  onSave: (name: string) => Promise<unknown>;
  onClose: () => void;
}) {
  const form = useForm({ initialValues: { name: initial }, validate: { name: validateName } });
  const save = useMutation({ mutationFn: onSave, onSuccess: onClose });
  return (
    <Dialog title={title} locked={save.isPending} onClose={onClose}>
      <form onSubmit={form.onSubmit(({ name }) => save.mutate(name.trim()))}>
        <Stack>
          <NameField {...form.getInputProps('name')} />
          <FormActions action={action} pending={save.isPending} error={save.error} onCancel={onClose} />
        </Stack>
      </form>
    </Dialog>
  );
}
