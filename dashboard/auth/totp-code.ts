import { hasCode } from '../api/api-error.ts';

export function needsCode(error: unknown, typed: string): boolean {
  return typed !== '' || hasCode(error, 'totp_required', 'totp_invalid');
}

/** Authenticator apps show codes with a space in the middle. */
export function plainCode(typed: string): string {
  return typed.replaceAll(' ', '');
}

export function typedCode(typed: string): { totp_code?: string } {
  return typed === '' ? {} : { totp_code: plainCode(typed) };
}
