import { Button } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { SandboxObject } from '../../api/types.ts';
import { useWorkspace } from '../../session/workspace.ts';
import { notifySuccess } from '../../shared/feedback/notify.ts';
import { Dialog } from '../../shared/forms/Dialog.tsx';
import type { Values } from './fields/fields.ts';
import { updateOf, valuesOf } from './form-values.ts';
import { ObjectForm } from './ObjectForm.tsx';
import type { Kind } from './object-kinds.ts';

export function EditButton({ kind, onClick }: { kind: Kind; onClick: () => void }) {
  const { can } = useWorkspace();
  if (!can(`${kind.path}:write`)) return null;
  return (
    <Button size="compact-sm" variant="default" onClick={onClick}>
      Edit
    </Button>
  );
}

type Props = { kind: Kind; object: SandboxObject; onClose: () => void };

export function EditObject({ kind, object, onClose }: Props) {
  const { api } = useWorkspace();
  const queries = useQueryClient();
  const fields = kind.fields.filter(({ name }) => kind.editable?.includes(name.split('.')[0] ?? ''));
  const before = (object.labels ?? []) as string[];
  const save = useMutation({
    mutationFn: async ({ values, labels }: { values: Values; labels: string[] }) => {
      const hasNewLabels = JSON.stringify(labels) !== JSON.stringify(before);
      const update = { ...updateOf(fields, values, object), ...(hasNewLabels && { labels }) };
      const isChanged = Object.keys(update).length > 0;
      if (isChanged) await api.patch(`/${kind.path}/${object.guid}`, update);
      return isChanged;
    },
    onSuccess: async (isChanged) => {
      await queries.invalidateQueries({ queryKey: [api.key, `/${kind.path}`] });
      if (isChanged) notifySuccess(`${kind.label} saved.`);
      onClose();
    },
  });
  return (
    <Dialog wide title={`Edit ${kind.label.toLowerCase()}`} locked={save.isPending} onClose={onClose}>
      <ObjectForm
        fields={fields}
        initial={valuesOf(fields, object)}
        initialLabels={before}
        action="Save"
        pending={save.isPending}
        error={save.error}
        onSubmit={(values, labels) => save.mutate({ values, labels })}
        onCancel={onClose}
      />
    </Dialog>
  );
}
