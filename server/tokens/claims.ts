import type { EnvironmentName } from '../database/tables.ts';
import type { Role } from './roles.ts';

export type TokenType = 'organization' | 'bank' | 'customer' | 'user';

/** The claims of an access token (contract, section 3); absent ones are left out. */
export type Claims = {
  iss: string;
  /** The client_id, or the member's guid of a user token. */
  sub: string;
  aud: string;
  exp: number;
  iat: number;
  jti: string;
  token_type: TokenType;
  organization_guid: string;
  bank_guid?: string;
  customer_guid?: string;
  /** Always there but for people, whose tokens may be good for both environments. */
  environment?: EnvironmentName;
  /** Of user tokens: the session and the membership that they end with. */
  session_guid?: string;
  grant_guid?: string;
  /** Of user tokens: the role, the last proof in seconds, and how it was given (RFC 9068, section 2.2.1; RFC 8176). */
  role?: Role;
  auth_time?: number;
  amr?: ('pwd' | 'mfa')[];
  scope: string;
  ip_allowlist: string[];
};

/** Half an hour: what the specification lets clients cache. */
export const TOKEN_LIFETIME_SECONDS = 1_800;
/** The dashboard renews its own token as it needs it. */
export const USER_TOKEN_LIFETIME_SECONDS = 300;
