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

const BY_ITSELF = 'by itself';

export function CreateObject({ kind, onClose }: { kind: Kind; onClose: () => void }) {
  const { api, bank } = useWorkspace();
  const queries = useQueryClient();
  const form = useForm<Record<string, string>>({
    initialValues: {
      ...Object.fromEntries(kind.fields.map(({ name, initial = '' }) => [name, initial])),
      simulate: BY_ITSELF,
    },
    validate: Object.fromEntries(
      kind.fields
        .filter(({ required }) => required)
        .map(({ name }) => [name, (value: string) => (value.trim() === '' ? 'Needed' : null)]),
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
    <Dialog wide title={`Create: ${kind.label.toLowerCase()}`} held={create.isPending} onClose={onClose}>
      <form onSubmit={form.onSubmit((values) => create.mutate(values))}>
        <Stack>
          <SimpleGrid cols={{ base: 1, sm: 2 }}>
            {kind.fields.map((field) => (
              <ObjectField
                key={field.name}
                field={field}
                value={form.values[field.name] ?? ''}
                others={form.values}
                error={form.errors[field.name]}
                onChange={(value) => form.setFieldValue(field.name, value)}
              />
            ))}
          </SimpleGrid>
          {kind.endings.length > 0 ? (
            <Select
              label="How does it end?"
              description="The simulator takes it there, step by step, each step an event"
              allowDeselect={false}
              data={[
                { value: BY_ITSELF, label: 'As it usually does' },
                ...kind.endings.map((value) => ({ value, label: value.replaceAll('_', ' ') })),
              ]}
              value={form.values.simulate ?? BY_ITSELF}
              onChange={(value) => form.setFieldValue('simulate', value ?? BY_ITSELF)}
            />
          ) : null}
          <FormActions action="Create" pending={create.isPending} error={create.error} onCancel={onClose} />
        </Stack>
      </form>
    </Dialog>
  );
}

/** Only what was filled in; an absent field is left out, never empty. */
function bodyOf(kind: Kind, values: Record<string, string>, bankGuid: string | undefined): object {
  const given = kind.fields.filter(({ name }) => (values[name] ?? '').trim() !== '');
  const { simulate } = values;
  return {
    ...Object.fromEntries(given.map((field) => [field.name, typedValue(field, values[field.name] ?? '')])),
    bank_guid: bankGuid,
    ...(simulate === BY_ITSELF ? {} : { simulate }),
  };
}

function typedValue({ kind }: Field, text: string): unknown {
  if (kind === 'integer') return Number(text);
  return kind === 'files' ? text.split(',') : text.trim();
}
