import { Select } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { SandboxObject } from '../../api/types.ts';
import { useWorkspace } from '../../session/workspace.ts';
import { notifySuccess } from '../../shared/feedback/notify.ts';
import { Dialog } from '../../shared/forms/Dialog.tsx';
import { INPUT_ORDER, type Values } from './fields/fields.ts';
import { bodyOf, initialValues } from './form-values.ts';
import { ObjectForm } from './ObjectForm.tsx';
import type { Kind } from './object-kinds.ts';

const DEFAULT_OUTCOME = 'default';

export function CreateObject({ kind, onClose }: { kind: Kind; onClose: () => void }) {
  const { api, bank } = useWorkspace();
  const queries = useQueryClient();
  const [outcome, setOutcome] = useState(DEFAULT_OUTCOME);
  const create = useMutation({
    mutationFn: ({ values, labels }: { values: Values; labels: string[] }) =>
      api.post<SandboxObject>(`/${kind.path}`, {
        ...bodyOf(kind.fields, values),
        bank_guid: bank?.guid,
        ...(labels.length > 0 && { labels }),
        ...(outcome !== DEFAULT_OUTCOME && { simulate: outcome }),
      }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: [api.key, `/${kind.path}`] });
      notifySuccess(`${kind.label} created.`);
      onClose();
    },
  });
  return (
    <Dialog wide title={`Create ${kind.label.toLowerCase()}`} locked={create.isPending} onClose={onClose}>
      <ObjectForm
        fields={kind.fields}
        initial={initialValues(kind.fields)}
        initialLabels={[]}
        action="Create"
        pending={create.isPending}
        error={create.error}
        onSubmit={(values, labels) => create.mutate({ values, labels })}
        onCancel={onClose}
      >
        {kind.outcomes.length > 0 ? (
          <Select
            label="Outcome"
            inputWrapperOrder={INPUT_ORDER}
            description="The simulator moves the object to this state and creates an event for each step"
            allowDeselect={false}
            data={[
              { value: DEFAULT_OUTCOME, label: 'Succeeds (default)' },
              ...kind.outcomes.map((value) => ({ value, label: value.replaceAll('_', ' ') })),
            ]}
            value={outcome}
            onChange={(value) => setOutcome(value ?? DEFAULT_OUTCOME)}
          />
        ) : null}
      </ObjectForm>
    </Dialog>
  );
}
