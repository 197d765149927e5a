import { Select, type SelectProps } from '@mantine/core';

/** A choice that can be cleared. */
export function SelectFilter({
  value,
  onChange,
  ...props
}: {
  value: string | undefined;
  onChange: (value: string | undefined) => void;
} & Omit<SelectProps, 'value' | 'onChange'>) {
  return (
    <Select clearable {...props} value={value ?? null} onChange={(chosen) => onChange(chosen ?? undefined)} />
  );
}
