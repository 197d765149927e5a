import { hasCode } from '../../api/problem.ts';

/** Asked for once the service wants it; what is typed stays. */
export function needsCode(error: unknown, typed: string): boolean {
  return typed !== '' || hasCode(error, 'totp_required', 'totp_invalid');
}

/** As the service takes it; apps show codes with a blank in the middle. */
export function typedCode(typed: string): { totp_code?: string } {
  return typed === '' ? {} : { totp_code: typed.replaceAll(' ', '') };
}
