import { TextInput, type TextInputProps } from '@mantine/core';

const MAX_NAME_CHARACTERS = 128;

export function NameField(props: Omit<TextInputProps, 'label' | 'maxLength'>) {
  return <TextInput label="Name" maxLength={MAX_NAME_CHARACTERS} required data-autofocus {...props} />;
}

export function validateName(name: string): string | null {
  return name.trim() === '' ? 'Enter a name' : null;
}
