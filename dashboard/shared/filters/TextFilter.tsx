import { TextInput } from '@mantine/core';

/** Taken up with Enter or when it is left, so that not every letter is asked for. */
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
  const take = (text: string) => {
    if (text.trim() !== (value ?? '')) onChange(text.trim() || undefined);
  };
  return (
    <TextInput
      key={value}
      label={label}
      placeholder={placeholder}
      defaultValue={value ?? ''}
      onBlur={({ currentTarget }) => take(currentTarget.value)}
      onKeyDown={({ key, currentTarget }) => {
        if (key === 'Enter') take(currentTarget.value);
      }}
    />
  );
}
