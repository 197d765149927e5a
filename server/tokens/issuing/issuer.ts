import { sign } from 'node:crypto';
import type { EnvironmentName } from '../../infrastructure/database/tables.ts';
import type { Clock } from '../../infrastructure/runtime/clock.ts';
import type { Guids } from '../../infrastructure/runtime/guid.ts';
import type { Metrics } from '../../infrastructure/runtime/metrics.ts';
import {
  type Claims,
  DASHBOARD_CLIENT_ID,
  TOKEN_LIFETIME_SECONDS,
  type TokenType,
  USER_TOKEN_LIFETIME_SECONDS,
} from '../claims.ts';
import type { Role } from '../roles.ts';
import { ALGORITHM, type SigningKeys } from '../signing-keys/signing-keys.ts';
import { withLowS } from '../verifying/signature-form.ts';
import type { Environments } from './environments.ts';

export type TokenResponse = { access_token: string; token_type: 'Bearer'; expires_in: number; scope: string };

export type TokenSubject = {
  tokenType: TokenType;
  /** The client_id; the member's guid in a user token. */
  subject: string;
  organizationGuid: string;
  bankGuid?: string | undefined;
  customerGuid?: string | undefined;
  environment?: EnvironmentName | undefined;
  sessionGuid?: string | undefined;
  grantGuid?: string | undefined;
  /** Token that a customer token was obtained with, and expires with. */
  parent?: { jti: string; exp: number } | undefined;
  role?: Role | undefined;
  provedAt?: Date | undefined;
  secondFactor?: boolean | undefined;
  scopes: readonly string[];
  ipAllowlist?: readonly string[];
};

export type Issuer = ReturnType<typeof createIssuer>;

/** Signs access tokens. The callers decide their contents. */
export function createIssuer({
  signingKeys,
  environments,
  baseUrl,
  clock,
  guids,
  metrics,
}: {
  signingKeys: SigningKeys;
  environments: Environments;
  baseUrl: string;
  clock: Clock;
  guids: Guids;
  metrics: Metrics;
}) {
  return {
    async issue(subject: TokenSubject): Promise<TokenResponse> {
      const isUser = subject.tokenType === 'user';
      const issuedAt = secondsOf(clock.now());
      const latest = issuedAt + (isUser ? USER_TOKEN_LIFETIME_SECONDS : TOKEN_LIFETIME_SECONDS);
      const expiresAt = Math.min(latest, subject.parent?.exp ?? latest);
      const scope = subject.scopes.join(' ');
      // JSON leaves out the undefined ones.
      const claims: { [Name in keyof Claims]-?: Claims[Name] | undefined } = {
        iss: environments.issuerFor(subject.tokenType, subject.environment),
        sub: subject.subject,
        client_id: isUser ? DASHBOARD_CLIENT_ID : subject.subject,
        aud: baseUrl,
        exp: expiresAt,
        iat: issuedAt,
        jti: guids.next(),
        token_type: subject.tokenType,
        organization_guid: subject.organizationGuid,
        bank_guid: subject.bankGuid,
        customer_guid: subject.customerGuid,
        environment: subject.environment,
        session_guid: subject.sessionGuid,
        grant_guid: subject.grantGuid,
        parent_jti: subject.parent?.jti,
        role: subject.role,
        auth_time: subject.provedAt && secondsOf(subject.provedAt),
        amr: subject.secondFactor === undefined ? undefined : [subject.secondFactor ? 'mfa' : 'pwd'],
        scope,
        ip_allowlist: [...(subject.ipAllowlist ?? [])],
      };
      const { kid, privateKey } = await signingKeys.current();
      const header = { alg: ALGORITHM, typ: 'at+jwt', kid };
      const signed = `${base64url(header)}.${base64url(claims)}`;
      // In this thread: handing a signature to the thread pool, as jose does, costs more than the signature itself.
      const signature = sign('sha256', Buffer.from(signed), { key: privateKey, dsaEncoding: 'ieee-p1363' });
      metrics.tokensIssued.inc({ token_type: subject.tokenType });
      return {
        access_token: `${signed}.${withLowS(signature).toString('base64url')}`,
        token_type: 'Bearer',
        expires_in: expiresAt - issuedAt,
        scope,
      };
    },
  };
}

function secondsOf(moment: Date): number {
  return Math.floor(moment.getTime() / 1_000);
}

function base64url(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url');
}
