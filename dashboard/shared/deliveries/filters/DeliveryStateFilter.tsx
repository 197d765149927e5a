import { Code, Group, Select } from '@mantine/core';
import { DELIVERY_STATES } from '../delivery-labels.ts';

/** Each option names the API's value in small print. */
export function DeliveryStateFilter({
  label = 'State',
  value,
  onChange,
}: {
  label?: string;
  value: string | undefined;
  onChange: (state: string | undefined) => void;
}) {
  return (
    <Select
      label={label}
      placeholder="All states"
      clearable
      data={DELIVERY_STATES}
      value={value ?? null}
      onChange={(state) => onChange(state ?? undefined)}
      renderOption={({ option }) => (
        <Group justify="space-between" gap="xs" flex={1}>
          {option.label}
          <Code fz={11}>{option.value}</Code>
        </Group>
      )}
    />
  );
}
