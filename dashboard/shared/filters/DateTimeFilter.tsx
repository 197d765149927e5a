import { TextInput } from '@mantine/core';

/** A moment in the reader's own time zone; kept as the API wants it. */
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
      value={value === undefined ? '' : localOf(value)}
      onChange={({ currentTarget }) => {
        const moment = new Date(currentTarget.value);
        onChange(Number.isNaN(moment.getTime()) ? undefined : moment.toISOString());
      }}
    />
  );
}

/** What the field shows: the same moment without its zone. */
function localOf(value: string): string {
  const moment = new Date(value);
  if (Number.isNaN(moment.getTime())) return '';
  return new Date(moment.getTime() - moment.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
