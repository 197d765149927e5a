import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Failure } from '../../../infrastructure/runtime/failure.ts';

const MIN_PASSWORD_CHARACTERS = 12;
const MAX_PASSWORD_CHARACTERS = 128;
const MIN_REPEATED_CHARACTERS = 4;

/** From zxcvbn-ts (MIT licensed): the 1,000 most common passwords, and the long ones among the 50,000 most common. */
const COMMON: ReadonlySet<string> = new Set(
  readFileSync(fileURLToPath(new URL('./common-passwords.txt', import.meta.url)), 'utf8')
    .trimEnd()
    .split('\n'),
);

/** The form that is checked and hashed (NIST SP 800-63B, section 3.1.1.2). */
export function normalizePassword(password: string): string {
  return password.normalize('NFKC');
}

/** Checks length and common passwords; no rules about character classes (NIST SP 800-63B). */
export function checkPasswordStrength(typed: string, typedEmail: string): Failure | undefined {
  const [password, email] = [normalizePassword(typed), normalizePassword(typedEmail)];
  const { length } = [...password];
  if (length < MIN_PASSWORD_CHARACTERS)
    return tooWeak(`The password must have at least ${MIN_PASSWORD_CHARACTERS} characters`);
  if (length > MAX_PASSWORD_CHARACTERS)
    return tooWeak(`The password must have at most ${MAX_PASSWORD_CHARACTERS} characters`);
  const lower = password.toLowerCase();
  const [mailbox] = email.split('@');
  if (lower === email || lower === mailbox) return tooWeak('The password must not be the email address');
  if (isCommon(lower)) return tooWeak('The password is too common. Choose another one');
  return undefined;
}

/** Common as is, repeated, or between digits and symbols; or a few characters repeated. */
function isCommon(lower: string): boolean {
  if (repeatedPart(lower).length < MIN_REPEATED_CHARACTERS) return true;
  const core = lower.replace(/^[^\p{L}]+|[^\p{L}]+$/gu, '');
  return [lower, repeatedPart(lower), core].some((candidate) => COMMON.has(candidate));
}

/** `abcabc` → `abc`; text that does not repeat is returned unchanged. */
function repeatedPart(text: string): string {
  return text.slice(0, (text + text).indexOf(text, 1));
}

function tooWeak(message: string): Failure {
  return new Failure('password_too_weak', message);
}
