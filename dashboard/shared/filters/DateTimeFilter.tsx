import { TextInput } from '@mantine/core';
import { useTimeForm } from '../time/time-form.tsx';

/** In local time, or in UTC if tables show that; the value is an ISO 8601 date-time in UTC. */
export function DateTimeFilter({
  label,
  value,
  onChange,
}: {
  label: string;
  value: string | undefined;
  onChange: (value: string | undefined) => void;
}) {
  const isUtc = useTimeForm().form === 'utc';
  return (
    <TextInput
      type="datetime-local"
      label={isUtc ? `${label} (UTC)` : label}
      value={value === undefined ? '' : toInput(value, isUtc)}
      onChange={({ currentTarget }) => {
        const date = new Date(isUtc ? `${currentTarget.value}Z` : currentTarget.value);
        onChange(Number.isNaN(date.getTime()) ? undefined : date.toISOString());
      }}
    />
  );
}

function toInput(value: string, isUtc: boolean): string {
  const date = new Date(value);
  if (Number.isNaN(date.getTime())) return '';
  const offsetMs = isUtc ? 0 : date.getTimezoneOffset() * 60_000;
  return new Date(date.getTime() - offsetMs).toISOString().slice(0, 16);
}
