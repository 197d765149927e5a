import type { EnvironmentName } from '../infrastructure/database/tables.ts';
import type { Role } from './roles.ts';

export type TokenType = 'organization' | 'bank' | 'customer' | 'user';

/** The claims of an access token (contract, section 3); absent ones are left out. */
export type Claims = {
  iss: string;
  /** The client_id, or the member's guid of a user token. */
  sub: string;
  /**
   * RFC 9068, section 2.2: the client_id, or the dashboard's of a user token. Absent only from tokens that an
   * earlier release issued within the last half hour.
   */
  client_id?: string;
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
  /** Of a customer token obtained with another token: that token's jti. It is dead as soon as its parent is. */
  parent_jti?: string;
  /** Of user tokens: the role, the last proof in seconds, and how it was given (RFC 9068, section 2.2.1; RFC 8176). */
  role?: Role;
  auth_time?: number;
  amr?: ('pwd' | 'mfa')[];
  scope: string;
  ip_allowlist: string[];
};

/** People get their tokens through the dashboard: it is the OAuth client, and no key pair has this id. */
export const DASHBOARD_CLIENT_ID = 'dashboard';

/** Half an hour: what the specification lets clients cache. */
export const TOKEN_LIFETIME_SECONDS = 1_800;
/** The dashboard renews its own token as it needs it. */
export const USER_TOKEN_LIFETIME_SECONDS = 300;
