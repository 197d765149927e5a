import { Select, SimpleGrid, Stack } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { SandboxObject } from '../../api/types.ts';
import { useWorkspace } from '../../session/workspace.ts';
import { notifySuccess } from '../../shared/feedback/notify.ts';
import { Dialog } from '../../shared/forms/Dialog.tsx';
import { FormActions } from '../../shared/forms/FormActions.tsx';
import { ObjectField } from './ObjectField.tsx';
import type { Field, Kind } from './object-kinds.ts';

const DEFAULT_OUTCOME = 'default';

export function CreateObject({ kind, onClose }: { kind: Kind; onClose: () => void }) {
  const { api, bank } = useWorkspace();
  const queries = useQueryClient();
  const form = useForm<Record<string, string>>({
    initialValues: {
      ...Object.fromEntries(kind.fields.map(({ name, initial = '' }) => [name, initial])),
      simulate: DEFAULT_OUTCOME,
    },
    validate: Object.fromEntries(
      kind.fields
        .filter(({ required }) => required)
        .map(({ name }) => [name, (value: string) => (value.trim() === '' ? 'Required' : null)]),
    ),
  });
  const create = useMutation({
    mutationFn: (values: Record<string, string>) =>
      api.post<SandboxObject>(`/${kind.path}`, bodyOf(kind, values, bank?.guid)),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: [api.key, `/${kind.path}`] });
      notifySuccess(`${kind.label} created.`);
      onClose();
    },
  });
  return (
    <Dialog wide title={`Create ${kind.label.toLowerCase()}`} locked={create.isPending} onClose={onClose}>
      <form onSubmit={form.onSubmit((values) => create.mutate(values))}>
        <Stack>
          <SimpleGrid cols={{ base: 1, sm: 2 }}>
            {kind.fields.map((field) => (
              <ObjectField
                key={field.name}
                field={field}
                value={form.values[field.name] ?? ''}
                formValues={form.values}
                error={form.errors[field.name]}
                onChange={(value) => form.setFieldValue(field.name, value)}
              />
            ))}
          </SimpleGrid>
          {kind.outcomes.length > 0 ? (
            <Select
              label="Outcome"
              description="The simulator moves the object to this state and creates an event for each step"
              allowDeselect={false}
              data={[
                { value: DEFAULT_OUTCOME, label: 'Default' },
                ...kind.outcomes.map((value) => ({ value, label: value.replaceAll('_', ' ') })),
              ]}
              value={form.values.simulate ?? DEFAULT_OUTCOME}
              onChange={(value) => form.setFieldValue('simulate', value ?? DEFAULT_OUTCOME)}
            />
          ) : null}
          <FormActions action="Create" pending={create.isPending} error={create.error} onCancel={onClose} />
        </Stack>
      </form>
    </Dialog>
  );
}

/** Empty fields are omitted: the API accepts neither null nor empty strings. */
function bodyOf(kind: Kind, values: Record<string, string>, bankGuid: string | undefined): object {
  const given = kind.fields.filter(({ name }) => (values[name] ?? '').trim() !== '');
  const { simulate } = values;
  return {
    ...Object.fromEntries(given.map((field) => [field.name, typedValue(field, values[field.name] ?? '')])),
    bank_guid: bankGuid,
    ...(simulate === DEFAULT_OUTCOME ? {} : { simulate }),
  };
}

function typedValue({ kind }: Field, text: string): unknown {
  // JSON numbers are exact up to 2^53 - 1; the API takes larger amounts as text.
  if (kind === 'integer') return Number.isSafeInteger(Number(text)) ? Number(text) : text;
  return kind === 'files' ? text.split(',') : text.trim();
}
