import { TextInput } from '@mantine/core';
import { useState } from 'react';
import { useTimeForm } from '../time/time-form.tsx';

/** An earlier year is one that is still being typed. */
const FIRST_YEAR = 1970;

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
  // A field that is set while a part of it is typed forgets the digits so far, and the address changes after each key.
  const [typed, setTyped] = useState<string>();
  return (
    <TextInput
      type="datetime-local"
      label={isUtc ? `${label} (UTC)` : label}
      value={typed ?? (value === undefined ? '' : toInput(value, isUtc))}
      onChange={({ currentTarget }) => {
        setTyped(currentTarget.value);
        const date = new Date(isUtc ? `${currentTarget.value}Z` : currentTarget.value);
        if (Number.isNaN(date.getTime())) onChange(undefined);
        else if (date.getFullYear() >= FIRST_YEAR) onChange(date.toISOString());
      }}
      onBlur={() => setTyped(undefined)}
    />
  );
}

function toInput(value: string, isUtc: boolean): string {
  const date = new Date(value);
  if (Number.isNaN(date.getTime())) return '';
  const offsetMs = isUtc ? 0 : date.getTimezoneOffset() * 60_000;
  return new Date(date.getTime() - offsetMs).toISOString().slice(0, 16);
}
