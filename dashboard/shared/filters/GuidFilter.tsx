import { TextInput } from '@mantine/core';
import { useTyped } from './use-typed.ts';

const GUID = /^[0-9a-f]{32}$/;

/** Applies only complete guids: the API rejects partial ones. */
export function GuidFilter({
  label,
  value,
  onChange,
}: {
  label: string;
  value: string | undefined;
  onChange: (value: string | undefined) => void;
}) {
  const [typed, setTyped] = useTyped(value);
  return (
    <TextInput
      label={label}
      placeholder="ID"
      value={typed}
      spellCheck={false}
      onChange={({ currentTarget }) => {
        const text = currentTarget.value.trim().toLowerCase().replaceAll('-', '');
        setTyped(text);
        if (text === '' && value !== undefined) onChange(undefined);
        if (GUID.test(text)) onChange(text);
      }}
      error={typed === '' || GUID.test(typed) ? undefined : 'Must be 32 hexadecimal characters'}
    />
  );
}
