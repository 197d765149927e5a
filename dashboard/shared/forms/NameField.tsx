import { TextInput, type TextInputProps } from '@mantine/core';

const MAX_NAME_CHARACTERS = 128;

/** The first field of a form about something that has a name. */
export function NameField(props: Omit<TextInputProps, 'label' | 'maxLength'>) {
  return <TextInput label="Name" maxLength={MAX_NAME_CHARACTERS} required data-autofocus {...props} />;
}

export function nameProblem(name: string): string | null {
  return name.trim() === '' ? 'Give it a name' : null;
}
