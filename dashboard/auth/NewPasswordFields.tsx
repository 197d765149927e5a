import { PasswordInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';

/** For forms that validate with `newPasswordRules`. */
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
        description="At least 12 characters. A few unrelated words work well."
        {...form.getInputProps('password')}
      />
      <PasswordInput {...shared} label={`Confirm ${label.toLowerCase()}`} {...form.getInputProps('again')} />
    </>
  );
}
