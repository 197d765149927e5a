import { TextInput } from '@mantine/core';

/** Shows local time; the value is an ISO 8601 date-time in UTC. */
export function DateTimeFilter({
  label,
  value,
  onChange,
}: {
  label: string;
  value: string | undefined;
  onChange: (value: string | undefined) => void;
}) {
  return (
    <TextInput
      type="datetime-local"
      label={label}
      value={value === undefined ? '' : toLocalInput(value)}
      onChange={({ currentTarget }) => {
        const date = new Date(currentTarget.value);
        onChange(Number.isNaN(date.getTime()) ? undefined : date.toISOString());
      }}
    />
  );
}

function toLocalInput(value: string): string {
  const date = new Date(value);
  if (Number.isNaN(date.getTime())) return '';
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
