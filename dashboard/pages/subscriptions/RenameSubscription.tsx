import { Stack } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { Subscription } from '../../api/types.ts';
import { Dialog } from '../../shared/forms/Dialog.tsx';
import { FormActions } from '../../shared/forms/FormActions.tsx';
import { NameField, validateName } from '../../shared/forms/NameField.tsx';
import { useSubscriptionApi } from './use-subscription-api.ts';

export function RenameSubscription({
  subscription,
  onClose,
}: {
  subscription: Subscription;
  onClose: () => void;
}) {
  const { change, listKey } = useSubscriptionApi();
  const queries = useQueryClient();
  const form = useForm({ initialValues: { name: subscription.name }, validate: { name: validateName } });
  const renaming = useMutation({
    mutationFn: (name: string) => change(subscription.guid, { name }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: listKey });
      onClose();
    },
  });
  return (
    <Dialog title="Rename subscription" locked={renaming.isPending} onClose={onClose}>
      <form onSubmit={form.onSubmit(({ name }) => renaming.mutate(name.trim()))}>
        <Stack>
          <NameField {...form.getInputProps('name')} />
          <FormActions
            action="Rename"
            pending={renaming.isPending}
            error={renaming.error}
            onCancel={onClose}
          />
        </Stack>
      </form>
    </Dialog>
  );
}
