import { MultiSelect } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { List } from '../../../api/types.ts';
import { useWorkspace } from '../../../session/workspace.ts';
import { type Field, INPUT_ORDER } from './fields.ts';

export function FilesField({
  field,
  value,
  customerGuid,
  onChange,
}: {
  field: Field;
  value: string;
  customerGuid: string;
  onChange: (value: string) => void;
}) {
  const { api, has } = useWorkspace();
  const enabled = has('files');
  const { data } = useQuery({
    queryKey: [api.key, '/files', 'of', customerGuid],
    queryFn: () =>
      api.get<List<{ guid: string; filename: string }>>('/files', {
        query: { customer_guid: customerGuid, state: 'completed', per_page: 100 },
      }),
    enabled: enabled && customerGuid !== '',
  });
  if (!enabled) return null;
  return (
    <MultiSelect
      label={field.label}
      description={field.hint}
      inputWrapperOrder={INPUT_ORDER}
      placeholder={customerGuid === '' ? 'Select a customer first' : 'None'}
      disabled={customerGuid === ''}
      data={(data?.objects ?? []).map(({ guid, filename }) => ({ value: guid, label: filename }))}
      value={value === '' ? [] : value.split(',')}
      onChange={(chosen) => onChange(chosen.join(','))}
    />
  );
}
