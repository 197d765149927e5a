import { errors, type JWTVerifyGetKey, jwtVerify } from 'jose';
import { compileAllowlist } from '../../credentials/applications/allowlists/allowlist.ts';
import type { EnvironmentName } from '../../infrastructure/database/tables.ts';
import { setBounded } from '../../infrastructure/runtime/bounded-map.ts';
import type { Clock } from '../../infrastructure/runtime/clock.ts';
import { Failure } from '../../infrastructure/runtime/failure.ts';
import { type Claims, DASHBOARD_CLIENT_ID, TOKEN_LIFETIME_SECONDS, type TokenType } from '../claims.ts';
import type { Environments } from '../issuing/environments.ts';
import { type Revocations, subjectsOf, tokenInvalid } from '../revoking/revocations.ts';
import type { Role } from '../roles.ts';
import { ALGORITHM, type SigningKeys } from '../signing-keys/signing-keys.ts';
import { hasLowS } from './signature-form.ts';

/** Caller of an API request, from the claims of its token. */
export type Caller = {
  type: TokenType;
  /** The client_id; the member's guid in a user token. */
  id: string;
  organizationGuid: string;
  bankGuid: string | undefined;
  customerGuid: string | undefined;
  /** Undefined for user tokens that are valid in both environments. */
  environment: EnvironmentName | undefined;
  scopes: ReadonlySet<string>;
  /** Parent of the customer tokens that are obtained with this token. */
  token: { jti: string; exp: number };
  /** User tokens: role, time of the last proof, and whether it included a second factor. */
  role: Role | undefined;
  provedAt: Date | undefined;
  secondFactor: boolean;
};

export type VerifiedToken = {
  claims: Claims;
  caller: Caller;
  /** Subjects of revocations that end the token. */
  revocableBy: readonly string[];
  /** Whether the allowlist in the token allows this source address. */
  allows(address: string | undefined): boolean;
};

/** Refuses a token with a valid signature that has expired or was revoked. */
export class EndedToken extends Failure {
  readonly caller: Caller;
  constructor(caller: Caller, { code, message }: Failure) {
    super(code, message);
    this.caller = caller;
  }
}

export type Verifier = ReturnType<typeof createVerifier>;

/** Only valid signatures are cached; expiry and revocation are checked on every call. */
const MAX_CACHED_TOKENS = 10_000;
const MAX_TOKEN_CHARACTERS = 8_192;
/**
 * RFC 7515 compact serialization without padding. The unused four bits of the last character must be zero, which decoders
 * do not check, so that a token has exactly one encoding.
 */
const COMPACT_FORM = /^[\w-]+\.[\w-]+\.[\w-]{85}[AQgw]$/;

export function createVerifier({
  signingKeys,
  environments,
  revocations,
  baseUrl,
  clock,
  maxCachedTokens = MAX_CACHED_TOKENS,
}: {
  signingKeys: SigningKeys;
  environments: Environments;
  revocations: Revocations;
  baseUrl: string;
  clock: Clock;
  maxCachedTokens?: number;
}) {
  const cache = new Map<string, VerifiedToken>();
  const issuers = [baseUrl, environments.issuerOf('sandbox'), environments.issuerOf('production')];

  const keyOfHeader: JWTVerifyGetKey = async ({ kid }) => {
    const key = kid === undefined ? undefined : await signingKeys.find(kid);
    if (!key) throw new errors.JWKSNoMatchingKey();
    return key.publicKey;
  };

  /** Synchronous for a cached token while this node is up to date with the revocations. */
  function verify(token: string): VerifiedToken | Failure | Promise<VerifiedToken | Failure> {
    const known = cache.get(token);
    if (!known) return verifyUncached(token);
    if (isExpired(known)) cache.delete(token);
    const ended = checkEnded(known);
    return ended instanceof Promise ? ended.then((failure) => failure ?? known) : (ended ?? known);
  }

  /** For a verified token, whose signature need not be checked again. Synchronous like `verify`. */
  function checkEnded(verified: VerifiedToken): EndedToken | undefined | Promise<EndedToken | undefined> {
    const { caller, revocableBy } = verified;
    if (isExpired(verified)) return new EndedToken(caller, expired());
    const revoked = revocations.isRevoked(revocableBy);
    const conclude = (isRevoked: boolean) => (isRevoked ? new EndedToken(caller, tokenInvalid()) : undefined);
    return typeof revoked === 'boolean' ? conclude(revoked) : revoked.then(conclude);
  }

  function isExpired({ claims }: VerifiedToken): boolean {
    return claims.exp * 1_000 <= clock.now().getTime();
  }

  async function verifyUncached(token: string): Promise<VerifiedToken | Failure> {
    if (token.length > MAX_TOKEN_CHARACTERS || !COMPACT_FORM.test(token)) return tokenInvalid();
    const claims = await readClaims(token);
    if (claims instanceof Failure) return claims;
    if (!isCanonical(token, claims)) return tokenInvalid();
    const caller = callerOf(claims);
    const revocableBy = subjectsOf(claims);
    const verified = { claims, caller, revocableBy, allows: compileAllowlist(claims.ip_allowlist) };
    if (await revocations.isRevoked(revocableBy)) return new EndedToken(caller, tokenInvalid());
    setBounded(cache, token, verified, maxCachedTokens);
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
      return isConsistent(claims) ? claims : tokenInvalid();
    } catch (error) {
      // The expiry is checked last, so that these claims are verified.
      if (error instanceof errors.JWTExpired)
        return new EndedToken(callerOf(error.payload as Claims), expired());
      if (error instanceof errors.JOSEError || error instanceof TypeError) return tokenInvalid();
      throw error;
    }
  }

  /** Rejects a lifetime beyond the time for which revocations and retired signing keys are kept. */
  function isConsistent({ iss, sub, client_id, exp, iat, token_type: type, environment }: Claims): boolean {
    if (environment === undefined && type !== 'user') return false;
    const client = type === 'user' ? DASHBOARD_CLIENT_ID : sub;
    if (client_id !== undefined && client_id !== client) return false;
    if (exp - iat > TOKEN_LIFETIME_SECONDS) return false;
    return iss === environments.issuerFor(type, environment);
  }

  return { verify, checkEnded };
}

/** Earlier releases issued tokens without `client_id`, and with either form of the signature. */
function isCanonical(token: string, { client_id }: Claims): boolean {
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
