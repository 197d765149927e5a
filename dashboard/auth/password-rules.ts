const MIN_CHARACTERS = 12;
const MAX_CHARACTERS = 128;

/** Only the server can tell whether a password is too common. */
function passwordError(password: string, email: string): string | null {
  if (password.length < MIN_CHARACTERS) return `At least ${MIN_CHARACTERS} characters`;
  if (password.length > MAX_CHARACTERS) return `At most ${MAX_CHARACTERS} characters`;
  return password.toLowerCase() === email.toLowerCase() ? 'Must not be your email address' : null;
}

export function newPasswordRules(email: string) {
  return {
    password: (value: string) => passwordError(value, email),
    again: (value: string, { password }: { password: string }) =>
      value === password ? null : 'Passwords do not match',
  };
}
