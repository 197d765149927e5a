import { PasswordInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';

/** A new password and the same once more, in a form with `newPasswordRules`. */
export function NewPasswordFields({
  form,
  label,
}: {
  form: Pick<UseFormReturnType<{ password: string; again: string }>, 'getInputProps'>;
  label: string;
}) {
  const shared = { autoComplete: 'new-password', required: true, withAsterisk: false };
  return (
    <>
      <PasswordInput
        {...shared}
        label={label}
        description="At least 12 characters; a few unrelated words are good"
        {...form.getInputProps('password')}
      />
      <PasswordInput {...shared} label={`${label} again`} {...form.getInputProps('again')} />
    </>
  );
}
