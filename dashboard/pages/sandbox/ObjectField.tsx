import { MultiSelect, NumberInput, Select, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { List, SandboxObject } from '../../api/types.ts';
import { CustomerSelect } from '../../shared/CustomerSelect.tsx';
import { money } from '../../shared/money.ts';
import { useWorkspace } from '../../shell/workspace-context.ts';
import { AMOUNTS, type Field } from './kinds.ts';
import { assetOf } from './summary.ts';

/** One field of any kind of object; what is typed is text until it is sent. */
export function ObjectField({
  field,
  value,
  others,
  error,
  onChange,
}: {
  field: Field;
  value: string;
  /** Of the whole form: what this one means may depend on them. */
  others: Record<string, string>;
  error: React.ReactNode;
  onChange: (value: string) => void;
}) {
  const { label, required } = field;
  const hint = AMOUNTS.has(field.name) ? amountHint(field, value, others) : field.hint;
  const common = { label, required, error, ...(hint === undefined ? {} : { description: hint }) };
  switch (field.kind) {
    case 'choice':
      return (
        <Select
          {...common}
          allowDeselect={false}
          data={[...(field.options ?? [])]}
          value={value}
          onChange={(chosen) => onChange(chosen ?? '')}
        />
      );
    case 'integer':
      return (
        <NumberInput
          {...common}
          allowDecimal={false}
          min={0}
          thousandSeparator=","
          value={value}
          onChange={(typed) => onChange(String(typed))}
        />
      );
    case 'customer':
      return (
        <CustomerSelect
          value={value === '' ? undefined : value}
          onChange={(guid) => onChange(guid ?? '')}
          error={error}
          clearable={!required}
        />
      );
    case 'reference':
      return <ReferenceField field={field} value={value} error={error} onChange={onChange} />;
    case 'files':
      return (
        <FilesField
          field={field}
          value={value}
          customerGuid={others.customer_guid ?? ''}
          onChange={onChange}
        />
      );
    case 'text':
      return (
        <TextInput
          {...common}
          value={value}
          onChange={({ currentTarget }) => onChange(currentTarget.value)}
        />
      );
  }
}

/** In the smallest unit, which is easily off by a hundred: so what it comes to is said while it is typed. */
function amountHint({ hint }: Field, value: string, others: Record<string, string>): string {
  const asset = assetOf(others);
  const shown =
    value === '' || asset === undefined ? 'In the smallest unit' : `Is ${money(Number(value), asset)}`;
  return hint === undefined ? shown : `${hint}. ${shown}`;
}

function ReferenceField({
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
    queryKey: [api.key, `/${field.of}`, 'all', bank?.guid],
    queryFn: () =>
      api.get<List<SandboxObject>>(`/${field.of}`, { query: { per_page: 100, bank_guid: bank?.guid } }),
  });
  const objects = data?.objects ?? [];
  return (
    <Select
      label={field.label}
      required={field.required}
      error={error}
      searchable
      placeholder={objects.length === 0 ? `Create one of the ${field.of} first` : 'Choose'}
      data={objects.map(({ guid, name, asset, type }) => ({
        value: guid,
        label: [name, type, asset, `…${guid.slice(-6)}`].filter((part) => part !== undefined).join(' '),
      }))}
      value={value === '' ? null : value}
      onChange={(chosen) => onChange(chosen ?? '')}
    />
  );
}

function FilesField({
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
  const { api, organization } = useWorkspace();
  const enabled = organization.features.includes('files');
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
      placeholder={customerGuid === '' ? 'Choose the customer first' : 'None'}
      disabled={customerGuid === ''}
      data={(data?.objects ?? []).map(({ guid, filename }) => ({ value: guid, label: filename }))}
      value={value === '' ? [] : value.split(',')}
      onChange={(chosen) => onChange(chosen.join(','))}
    />
  );
}
