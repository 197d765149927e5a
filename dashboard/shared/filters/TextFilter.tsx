import { TextInput } from '@mantine/core';

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
  const apply = (text: string) => {
    if (text.trim() !== (value ?? '')) onChange(text.trim() || undefined);
  };
  return (
    <TextInput
      key={value}
      label={label}
      placeholder={placeholder}
      defaultValue={value ?? ''}
      onBlur={({ currentTarget }) => apply(currentTarget.value)}
      onKeyDown={({ key, currentTarget }) => {
        if (key === 'Enter') apply(currentTarget.value);
      }}
    />
  );
}
