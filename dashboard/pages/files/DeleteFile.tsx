import { Alert, Stack, Text } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { hasCode } from '../../api/api-error.ts';
import type { List, SandboxObject, StoredFile } from '../../api/types.ts';
import { useWorkspace } from '../../session/workspace.ts';
import { notifySuccess } from '../../shared/feedback/notify.ts';
import { Dialog } from '../../shared/forms/Dialog.tsx';
import { FormActions } from '../../shared/forms/FormActions.tsx';
import { ObjectLink } from '../../shared/text/ObjectLink.tsx';

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
        {isInUse ? (
          <InUse file={file} />
        ) : (
          <Text size="sm">The file and its content are deleted from the service. This cannot be undone.</Text>
        )}
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

/** Names the newest of the objects that refer to the file. */
function InUse({ file }: { file: StoredFile }) {
  const { api } = useWorkspace();
  const path = '/identity_verifications';
  const { data } = useQuery({
    queryKey: [api.key, path, 'of file', file.guid],
    queryFn: ({ signal }) =>
      api.get<List<SandboxObject>>(path, { query: { file_guid: file.guid, per_page: 1 }, signal }),
  });
  const [verification] = data?.objects ?? [];
  return (
    <Alert color="red" title="File in use">
      An identity verification refers to this file. It cannot be deleted.
      {verification ? <ObjectLink type="identity_verification" guid={verification.guid} /> : null}
    </Alert>
  );
}
