import { TextInput } from '@mantine/core';

export function CodeField(props: {
  value?: string;
  error?: React.ReactNode;
  onChange?: (event: never) => void;
}) {
  return (
    <TextInput
      label="Code"
      description="From your authenticator app, or a recovery code"
      autoComplete="one-time-code"
      autoFocus
      data-autofocus
      required
      withAsterisk={false}
      {...props}
    />
  );
}
