import { TextInput } from '@mantine/core';

/** The second factor; what it is given comes from a form. */
export function CodeField(props: {
  value?: string;
  error?: React.ReactNode;
  onChange?: (event: never) => void;
}) {
  return (
    <TextInput
      label="Code"
      description="From your authenticator app, or one of your recovery codes"
      autoComplete="one-time-code"
      autoFocus
      data-autofocus
      required
      withAsterisk={false}
      {...props}
    />
  );
}
