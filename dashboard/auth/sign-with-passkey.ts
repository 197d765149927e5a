import { type AuthenticationResponseJSON, startAuthentication } from '@simplewebauthn/browser';
import { accountApi } from '../api/account.ts';

/** Has the browser ask for a passkey, and hands over what that signed. */
export async function signWithPasskey<Answer>(
  handOver: (challengeId: string, response: AuthenticationResponseJSON) => Promise<Answer>,
): Promise<Answer> {
  const { challenge_id: challengeId, ...optionsJSON } = await accountApi.passkeyLoginOptions();
  return await handOver(challengeId, await startAuthentication({ optionsJSON }));
}
