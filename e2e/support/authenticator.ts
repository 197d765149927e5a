import type { Page } from 'playwright-core';

export { codesOf } from '../../testing/totp.ts';

/** After it a login is no fresh proof any more. */
export const PROOF_MS = 5 * 60_000;
/** An app shows another code. */
export const TOTP_STEP_MS = 30_000;

/** A device with a fingerprint reader, as Chromium simulates one for this page; its person always puts a finger on it. */
export async function addAuthenticator(page: Page): Promise<void> {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('WebAuthn.enable');
  await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
}
