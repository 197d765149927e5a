import { Portico, type Scope } from '../../sdk/src/index.ts';
import type { Profile } from './profiles/profiles.ts';

export type Session = ReturnType<typeof createSession>;

/** A key may always ask for it: the service drops it and issues a token without scopes. */
const NO_SCOPE: Scope = 'subscriptions:read' as Scope;

/** A person waits for the answer. */
const MAX_RETRIES = 1;

/** Calls with the key pair of a profile; each command asks for the scopes that it needs. */
export function createSession(profile: Profile) {
  const { url, authUrl, environment, clientId, clientSecret } = profile;

  function withScopes(...scopes: readonly string[]): Portico {
    return new Portico({
      ...{ baseUrl: url, authUrl, environment, clientId, clientSecret, maxRetries: MAX_RETRIES },
      scopes: scopes.length === 0 ? [NO_SCOPE] : (scopes as Scope[]),
    });
  }

  return { profile, withScopes };
}

export type Claims = {
  token_type?: string;
  organization_guid?: string;
  bank_guid?: string;
  environment?: string;
  scope?: string;
  ip_allowlist?: string[];
  exp?: number;
  iat?: number;
};

/** Of the token as it is; only the service verifies it. */
export function claimsOf(token: string): Claims {
  return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as Claims;
}
