import { NumberInput, Select, TextInput } from '@mantine/core';
import { CustomerSelect } from '../../../shared/forms/CustomerSelect.tsx';
import { formatAmount } from '../../../shared/text/format-amount.ts';
import { assetOf } from '../summary.ts';
import { FilesField } from './FilesField.tsx';
import { AMOUNTS, type Field, INPUT_ORDER, type Values } from './fields.ts';
import { ReferenceField } from './ReferenceField.tsx';
import { SymbolField } from './SymbolField.tsx';

export function ObjectField({
  field,
  value,
  formValues,
  error,
  onChange,
}: {
  field: Field;
  value: string;
  /** All values that the form shows. */
  formValues: Values;
  error: React.ReactNode;
  onChange: (value: string) => void;
}) {
  const { label, required } = field;
  const hint = AMOUNTS.has(field.name) ? amountHint(field, value, formValues) : field.hint;
  const common = {
    label,
    required,
    error,
    inputWrapperOrder: INPUT_ORDER,
    ...(hint === undefined ? {} : { description: hint }),
  };
  switch (field.kind) {
    case 'choice':
      return (
        <Select
          {...common}
          allowDeselect={false}
          data={[...(field.offered?.(formValues) ?? field.options ?? [])]}
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
          creatable
          value={value === '' ? undefined : value}
          onChange={(guid) => onChange(guid ?? '')}
          error={error}
          clearable={!required}
          withAsterisk={required}
        />
      );
    case 'symbol':
      return <SymbolField field={field} value={value} error={error} onChange={onChange} />;
    case 'reference':
      return <ReferenceField field={field} value={value} error={error} onChange={onChange} />;
    case 'files':
      return (
        <FilesField
          field={field}
          value={value}
          customerGuid={formValues.customer_guid ?? ''}
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

/** Shows the amount in the main unit while typing: a factor of 100 is easily missed. */
function amountHint({ name, hint }: Field, value: string, formValues: Values): string {
  const asset = assetOf(name, formValues);
  const amount =
    !/^\d+$/.test(value) || asset === undefined
      ? 'In the smallest unit of the asset'
      : `In the smallest unit, equals ${formatAmount(value, asset)}`;
  return hint === undefined ? amount : `${hint}. ${amount}`;
}
