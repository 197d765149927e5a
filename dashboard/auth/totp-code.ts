import { hasCode } from '../api/api-error.ts';

/** Asked for once the service wants it; what is typed stays. */
export function needsCode(error: unknown, typed: string): boolean {
  return typed !== '' || hasCode(error, 'totp_required', 'totp_invalid');
}

/** Apps show codes with a blank in the middle. */
export function plainCode(typed: string): string {
  return typed.replaceAll(' ', '');
}

/** As the service takes it beside a password. */
export function typedCode(typed: string): { totp_code?: string } {
  return typed === '' ? {} : { totp_code: plainCode(typed) };
}
