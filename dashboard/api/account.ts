import type {
  AuthenticationResponseJSON,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
} from '@simplewebauthn/browser';
import { type Method, send } from './send.ts';
import type {
  Link,
  LoginSession,
  NewSavedFilter,
  Passkey,
  PasswordReset,
  SavedFilter,
  Session,
} from './types.ts';

/** Calls that authenticate with the session cookie instead of a token. */
function call<Body>(method: Method, path: string, body?: object): Promise<Body> {
  return send<Body>({ method, path: `/dashboard${path}`, body });
}

export const accountApi = {
  session: () => call<Session>('GET', '/session'),
  logIn: (credentials: { email: string; password: string; totp_code?: string }) =>
    call<Session>('POST', '/login', credentials),
  logOut: () => call<void>('POST', '/logout', {}),
  passkeyLoginOptions: () =>
    call<PublicKeyCredentialRequestOptionsJSON & { challenge_id: string }>(
      'POST',
      '/passkey_login/options',
      {},
    ),
  passkeyLogIn: (challengeId: string, response: AuthenticationResponseJSON) =>
    call<Session>('POST', '/passkey_login', { challenge_id: challengeId, response }),

  requestPasswordReset: (email: string) => call<PasswordReset>('POST', '/password_resets', { email }),
  inspectLink: (token: string) => call<Link>('POST', '/links/inspect', { token }),
  acceptInvitation: (token: string) => call<Session>('POST', '/links/accept', { token }),
  setPassword: (input: { token: string; password: string; name?: string; totp_code?: string }) =>
    call<Session>('POST', '/password', input),

  proveByPassword: (password: string) => call<void>('POST', '/account/proof/password', { password }),
  proveByCode: (code: string) => call<void>('POST', '/account/proof/totp', { code }),
  proveByPasskey: (challengeId: string, response: AuthenticationResponseJSON) =>
    call<void>('POST', '/account/proof/passkey', { challenge_id: challengeId, response }),

  rename: (name: string) => call<unknown>('PATCH', '/account', { name }),
  changePassword: (input: { current_password: string; new_password: string }) =>
    call<void>('POST', '/account/password', input),
  beginTotp: () => call<{ secret: string; uri: string }>('POST', '/account/totp', {}),
  confirmTotp: (code: string) =>
    call<{ recovery_codes: string[] }>('POST', '/account/totp/confirm', { code }),
  removeTotp: (password: string) => call<void>('DELETE', '/account/totp', { password }),
  passkeys: () => call<{ objects: Passkey[] }>('GET', '/account/passkeys'),
  passkeyOptions: () => call<PublicKeyCredentialCreationOptionsJSON>('POST', '/account/passkeys/options', {}),
  addPasskey: (name: string, response: RegistrationResponseJSON) =>
    call<Passkey>('POST', '/account/passkeys', { name, response }),
  removePasskey: (guid: string) => call<void>('DELETE', `/account/passkeys/${guid}`),
  savedFilters: (organizationGuid: string) =>
    call<{ objects: SavedFilter[] }>('GET', `/account/saved_filters?organization_guid=${organizationGuid}`),
  saveFilter: (input: NewSavedFilter) => call<SavedFilter>('POST', '/account/saved_filters', input),
  deleteSavedFilter: (guid: string) => call<void>('DELETE', `/account/saved_filters/${guid}`),
  sessions: () => call<{ objects: LoginSession[] }>('GET', '/account/sessions'),
  endSession: (guid: string) => call<void>('DELETE', `/account/sessions/${guid}`),
};
