import { Menu } from '@mantine/core';
import { type TimeForm, useTimeForm } from '../time/time-form.tsx';
import { ToolbarMenu } from './ToolbarMenu.tsx';
import { PAGE_SIZES, usePageSize } from './use-page-size.ts';

type Option<Value> = { value: Value; label: string };

const TIMES: readonly Option<TimeForm>[] = [
  { value: 'relative', label: 'Relative' },
  { value: 'local', label: 'Local time' },
  { value: 'utc', label: 'UTC' },
];
const SIZES = PAGE_SIZES.map((size) => ({ value: size, label: size }));

/** Settings of all tables in this browser. */
export function DisplayMenu() {
  const { form, setForm } = useTimeForm();
  const [pageSize, setPageSize] = usePageSize();
  return (
    <ToolbarMenu label="Display" icon="settings" closeOnItemClick={false}>
      <Choice label="Times" options={TIMES} value={form} onChange={setForm} />
      <Menu.Divider />
      <Choice label="Rows per page" options={SIZES} value={pageSize} onChange={setPageSize} />
    </ToolbarMenu>
  );
}

function Choice<Value extends string>({
  label,
  options,
  value,
  onChange,
}: {
  label: string;
  options: readonly Option<Value>[];
  value: Value;
  onChange: (value: Value) => void;
}) {
  return (
    <Menu.RadioGroup value={value} onChange={(chosen) => onChange(chosen as Value)}>
      <Menu.Label>{label}</Menu.Label>
      {options.map((option) => (
        <Menu.RadioItem key={option.value} value={option.value}>
          {option.label}
        </Menu.RadioItem>
      ))}
    </Menu.RadioGroup>
  );
}
