import { type AuthenticationResponseJSON, startAuthentication } from '@simplewebauthn/browser';
import { accountApi } from '../api/account.ts';

/** Asks the browser for a passkey and submits the signed challenge. */
export async function signWithPasskey<Result>(
  submit: (challengeId: string, response: AuthenticationResponseJSON) => Promise<Result>,
): Promise<Result> {
  const { challenge_id: challengeId, ...optionsJSON } = await accountApi.passkeyLoginOptions();
  return await submit(challengeId, await startAuthentication({ optionsJSON }));
}
