import { after } from 'node:test';
import type { Page } from 'playwright-core';

export { codesOf } from '../../testing/people/totp.ts';

/** A login counts as a recent proof for this long. */
export const PROOF_MS = 5 * 60_000;
/** Codes change at this interval, and each works once. */
export const TOTP_STEP_MS = 30_000;

/** Adds a virtual WebAuthn authenticator that confirms every request, until the end of the test. */
export async function addAuthenticator(page: Page): Promise<void> {
  const devtools = await page.context().newCDPSession(page);
  after(() => devtools.detach());
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
