import { TextInput } from '@mantine/core';
import { useTyped } from './use-typed.ts';

/** Applies on Enter or blur, so that typing does not send a request per character. */
export function TextFilter({
  label,
  placeholder,
  value,
  onChange,
}: {
  label: string;
  placeholder: string;
  value: string | undefined;
  onChange: (value: string | undefined) => void;
}) {
  const [typed, setTyped] = useTyped(value);
  const apply = () => {
    const text = typed.trim();
    if (text !== (value ?? '')) onChange(text || undefined);
  };
  return (
    <TextInput
      label={label}
      placeholder={placeholder}
      value={typed}
      onChange={({ currentTarget }) => setTyped(currentTarget.value)}
      onBlur={apply}
      onKeyDown={({ key }) => {
        if (key === 'Enter') apply();
      }}
    />
  );
}
