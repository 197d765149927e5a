const MIN_CHARACTERS = 12;
const MAX_CHARACTERS = 128;

/** The part of the server's rule that can be said while typing; whether it is too common, the server tells. */
function passwordProblem(password: string, email: string): string | null {
  if (password.length < MIN_CHARACTERS) return `At least ${MIN_CHARACTERS} characters`;
  if (password.length > MAX_CHARACTERS) return `At most ${MAX_CHARACTERS} characters`;
  return password.toLowerCase() === email.toLowerCase() ? 'Not the email address itself' : null;
}

/** For a form with a new password in it, typed twice. */
export function newPasswordRules(email: string) {
  return {
    password: (value: string) => passwordProblem(value, email),
    again: (value: string, { password }: { password: string }) =>
      value === password ? null : 'The two are not the same',
  };
}
