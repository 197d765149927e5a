import { Alert, Stack, Text } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { hasCode } from '../../api/api-error.ts';
import type { StoredFile } from '../../api/types.ts';
import { useWorkspace } from '../../session/workspace.ts';
import { notifySuccess } from '../../shared/feedback/notify.ts';
import { Dialog } from '../../shared/forms/Dialog.tsx';
import { FormActions } from '../../shared/forms/FormActions.tsx';

export function DeleteFile({ file, onClose }: { file: StoredFile; onClose: () => void }) {
  const { api } = useWorkspace();
  const queries = useQueryClient();
  const remove = useMutation({
    mutationFn: () => api.remove(`/files/${file.guid}`),
    onSuccess: async () => {
      onClose();
      notifySuccess(`${file.filename} deleted.`);
      await queries.invalidateQueries({ queryKey: [api.key, '/files'] });
    },
  });
  const isInUse = hasCode(remove.error, 'file_in_use');
  return (
    <Dialog title={`Delete ${file.filename}`} locked={remove.isPending} onClose={onClose}>
      <Stack>
        <Text size="sm">The file and its content are deleted from the service. This cannot be undone.</Text>
        {isInUse ? (
          <Alert color="red" title="File in use">
            An identity verification refers to this file. It cannot be deleted.
          </Alert>
        ) : null}
        <FormActions
          danger
          action="Delete"
          onAction={() => remove.mutate()}
          pending={remove.isPending}
          disabled={isInUse}
          error={isInUse ? undefined : remove.error}
          onCancel={onClose}
        />
      </Stack>
    </Dialog>
  );
}
