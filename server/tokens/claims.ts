import type { EnvironmentName } from '../infrastructure/database/tables.ts';
import type { Role } from './roles.ts';

export type TokenType = 'organization' | 'bank' | 'customer' | 'user';

/** The claims of an access token (contract, section 3); absent ones are left out. */
export type Claims = {
  iss: string;
  /** The client_id; the member's guid in a user token. */
  sub: string;
  /** RFC 9068, section 2.2; the dashboard's in a user token. Absent from tokens of earlier releases. */
  client_id?: string;
  aud: string;
  exp: number;
  iat: number;
  jti: string;
  token_type: TokenType;
  organization_guid: string;
  bank_guid?: string;
  customer_guid?: string;
  /** Absent only from user tokens that are valid in both environments. */
  environment?: EnvironmentName;
  /** User tokens: the session with which the token is revoked. */
  session_guid?: string;
  /**
   * With it the token is revoked: in a user token the grant of the membership, otherwise that of the Organization, which is
   * its guid (and not in the token) unless it was imported.
   */
  grant_guid?: string;
  /** Customer tokens obtained with another token: its jti, with which the customer token is revoked. */
  parent_jti?: string;
  /** User tokens: role, time of the last proof and its method (RFC 9068, section 2.2.1; RFC 8176). */
  role?: Role;
  auth_time?: number;
  amr?: ('pwd' | 'mfa')[];
  scope: string;
  ip_allowlist: string[];
};

/** OAuth client of user tokens. */
export const DASHBOARD_CLIENT_ID = 'dashboard';

/** Specification: tokens can be cached for 30 minutes. */
export const TOKEN_LIFETIME_SECONDS = 1_800;
export const USER_TOKEN_LIFETIME_SECONDS = 300;
/** Expired revocations and signing keys are kept for so long, because the node that deletes them may be ahead of others. */
export const EXPIRED_KEPT_MS = 3_600_000;
/** Time for which a proof of identity allows changes that give lasting access. */
const PROOF_LIFETIME_MS = 5 * 60_000;

export function isFreshProof(provedAt: Date | null | undefined, now: Date): boolean {
  return provedAt != null && now.getTime() - provedAt.getTime() < PROOF_LIFETIME_MS;
}
