import { errors, type JWTVerifyGetKey, jwtVerify } from 'jose';
import { compileAllowlist } from '../../credentials/applications/allowlists/allowlist.ts';
import type { EnvironmentName } from '../../infrastructure/database/tables.ts';
import { setBounded } from '../../infrastructure/runtime/bounded-map.ts';
import type { Clock } from '../../infrastructure/runtime/clock.ts';
import { Failure } from '../../infrastructure/runtime/failure.ts';
import { type Claims, DASHBOARD_CLIENT_ID, TOKEN_LIFETIME_SECONDS, type TokenType } from '../claims.ts';
import type { Environments } from '../issuing/environments.ts';
import type { Revocations } from '../revoking/revocations.ts';
import type { Role } from '../roles.ts';
import { ALGORITHM, type SigningKeys } from '../signing-keys/signing-keys.ts';
import { hasLowS } from './signature-form.ts';

/** On whose behalf a call is made, as its token says. */
export type Caller = {
  type: TokenType;
  /** The client_id, or the member's guid of a user token. */
  id: string;
  organizationGuid: string;
  bankGuid: string | undefined;
  customerGuid: string | undefined;
  /** Undefined for a person's token that is good for both. */
  environment: EnvironmentName | undefined;
  scopes: ReadonlySet<string>;
  /** The token itself: a customer token obtained with it ends with it. */
  token: { jti: string; exp: number };
  /** Of a person: the role, the last proof of who they are, and whether a second factor was part of it. */
  role: Role | undefined;
  provedAt: Date | undefined;
  secondFactor: boolean;
};

export type VerifiedToken = {
  claims: Claims;
  caller: Caller;
  /** Whether the list sealed into the token lets this source address through. */
  allows(address: string | undefined): boolean;
};

export type Verifier = ReturnType<typeof createVerifier>;

/** Signatures are checked once; what is remembered is only that, never that a token is still good. */
const MAX_REMEMBERED_TOKENS = 10_000;
/** The longest token of ours is far below; anything longer is not looked at. */
const MAX_TOKEN_CHARACTERS = 8_192;
/**
 * Three parts in base64url as RFC 7515 wants it: no padding, and the four bits that 64 bytes of signature leave
 * over in the last character are zero. Decoders are lenient; so that a token has one spelling, this is not.
 */
const COMPACT_FORM = /^[\w-]+\.[\w-]+\.[\w-]{85}[AQgw]$/;

export function createVerifier({
  signingKeys,
  environments,
  revocations,
  baseUrl,
  clock,
}: {
  signingKeys: SigningKeys;
  environments: Environments;
  revocations: Revocations;
  baseUrl: string;
  clock: Clock;
}) {
  const remembered = new Map<string, VerifiedToken>();
  const issuers = [baseUrl, environments.issuerOf('sandbox'), environments.issuerOf('production')];

  const keyOfHeader: JWTVerifyGetKey = async ({ kid }) => {
    const key = kid === undefined ? undefined : await signingKeys.find(kid);
    if (!key) throw new errors.JWKSNoMatchingKey();
    return key.publicKey;
  };

  /**
   * Straight from memory when this token's signature was checked before and this node is up to date with
   * the revocations; expiry, revocation and removal of the key pair are looked at on every call.
   */
  function verify(token: string): VerifiedToken | Failure | Promise<VerifiedToken | Failure> {
    const known = remembered.get(token);
    if (!known) return verifyAnew(token);
    if (known.claims.exp * 1_000 <= clock.now().getTime()) {
      remembered.delete(token);
      return expired();
    }
    const revoked = revocations.check(known.claims);
    if (typeof revoked === 'boolean') return revoked ? refused() : known;
    return revoked.then((isRevoked) => (isRevoked ? refused() : known));
  }

  async function verifyAnew(token: string): Promise<VerifiedToken | Failure> {
    if (token.length > MAX_TOKEN_CHARACTERS || !COMPACT_FORM.test(token)) return refused();
    const claims = await readClaims(token);
    if (claims instanceof Failure) return claims;
    if (!hasOneSpelling(token, claims)) return refused();
    const verified = { claims, caller: callerOf(claims), allows: compileAllowlist(claims.ip_allowlist) };
    if (await revocations.check(claims)) return refused();
    setBounded(remembered, token, verified, MAX_REMEMBERED_TOKENS);
    return verified;
  }

  async function readClaims(token: string): Promise<Claims | Failure> {
    try {
      const { payload } = await jwtVerify(token, keyOfHeader, {
        algorithms: [ALGORITHM],
        typ: 'at+jwt',
        issuer: issuers,
        audience: baseUrl,
        requiredClaims: [
          'exp',
          'iat',
          'jti',
          'sub',
          'token_type',
          'organization_guid',
          'scope',
          'ip_allowlist',
        ],
        clockTolerance: 0,
        currentDate: clock.now(),
      });
      const claims = payload as Claims;
      return isConsistent(claims) ? claims : refused();
    } catch (error) {
      if (error instanceof errors.JWTExpired) return expired();
      if (error instanceof errors.JOSEError || error instanceof TypeError) return refused();
      throw error;
    }
  }

  /**
   * A sandbox issuer speaks for the sandbox only, and the other way round; people alone may have no environment;
   * and nothing lives longer than revocations and retired signing keys are kept for.
   */
  function isConsistent({ iss, sub, client_id, exp, iat, token_type: type, environment }: Claims): boolean {
    if (environment === undefined && type !== 'user') return false;
    const client = type === 'user' ? DASHBOARD_CLIENT_ID : sub;
    if (client_id !== undefined && client_id !== client) return false;
    if (exp - iat > TOKEN_LIFETIME_SECONDS) return false;
    return iss === environments.issuerFor(type, environment);
  }

  return { verify };
}

/** Tokens without `client_id` come from an earlier release, which issued both forms of a signature. */
function hasOneSpelling(token: string, { client_id }: Claims): boolean {
  return client_id === undefined || hasLowS(token);
}

function callerOf(claims: Claims): Caller {
  return {
    type: claims.token_type,
    id: claims.sub,
    organizationGuid: claims.organization_guid,
    bankGuid: claims.bank_guid,
    customerGuid: claims.customer_guid,
    environment: claims.environment,
    scopes: new Set(claims.scope.split(' ')),
    token: { jti: claims.jti, exp: claims.exp },
    role: claims.role,
    provedAt: claims.auth_time === undefined ? undefined : new Date(claims.auth_time * 1_000),
    secondFactor: claims.amr?.includes('mfa') ?? false,
  };
}

export function expired(): Failure {
  return new Failure('authentication_failed', 'Signature has expired');
}

function refused(): Failure {
  return new Failure('authentication_failed', 'The access token is not valid');
}
