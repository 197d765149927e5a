import { Secret, TOTP } from 'otpauth';
import type { TestApp } from '../app/app.ts';

/** The code of an authenticator app with this secret at the time of each call. */
export function codesOf({ clock }: TestApp, secret: unknown): () => string {
  const totp = new TOTP({ secret: Secret.fromBase32(String(secret)) });
  return () => totp.generate({ timestamp: clock.now().getTime() });
}
