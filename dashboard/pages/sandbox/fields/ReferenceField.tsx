import { Select } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { List, SandboxObject } from '../../../api/types.ts';
import { useWorkspace } from '../../../session/workspace.ts';
import { type Field, INPUT_ORDER } from './fields.ts';

export function ReferenceField({
  field,
  value,
  error,
  onChange,
}: {
  field: Field;
  value: string;
  error: React.ReactNode;
  onChange: (value: string) => void;
}) {
  const { api, bank } = useWorkspace();
  const { data } = useQuery({
    queryKey: [api.key, `/${field.resource}`, 'all', bank?.guid, field.filters],
    queryFn: ({ signal }) =>
      api.get<List<SandboxObject>>(`/${field.resource}`, {
        query: { per_page: 100, bank_guid: bank?.guid, ...field.filters },
        signal,
      }),
  });
  const objects = data?.objects ?? [];
  return (
    <Select
      label={field.label}
      description={field.hint}
      inputWrapperOrder={INPUT_ORDER}
      required={field.required}
      clearable={!field.required}
      error={error}
      searchable
      placeholder={data?.objects.length === 0 ? `No ${field.resource?.replaceAll('_', ' ')} yet` : 'Select'}
      data={objects.map(({ guid, name, asset, type }) => ({
        value: guid,
        label: [name, type, asset, `…${guid.slice(-6)}`].filter((part) => part !== undefined).join(' '),
      }))}
      value={value === '' ? null : value}
      onChange={(chosen) => onChange(chosen ?? '')}
    />
  );
}
