import { createHash } from 'node:crypto';
import { countedAddress, networkOf } from '../../../infrastructure/rate-limits/address.ts';
import { countAll, type LimitedKey } from '../../../infrastructure/rate-limits/combined.ts';
import type { RateLimit, RateLimits } from '../../../infrastructure/rate-limits/service.ts';
import type { Failure } from '../../../infrastructure/runtime/failure.ts';
import { normalizeEmail } from '../../members/people.ts';

export type LoginLimits = ReturnType<typeof createLoginLimits>;

const WINDOW_MS = 300_000;
const HOUR_MS = 3_600_000;
/** Logins per email address from all sources, as a multiple of the limit per source: bounds distributed guessing. */
const ALL_SOURCES_FACTOR = 5;
/** Separate limits for logins and proofs. With 3 of 10^6 codes valid, ten guesses an hour succeed once in 1,400 days. */
const CODES_PER_HOUR = 10;
const PASSWORD_RESETS_PER_HOUR = 5;
/** Checks in a session: current passwords, and codes of a new authenticator. */
const ACCOUNT_CHECKS = 20;
/** Calls of a logged-in person; a page of the dashboard needs a few. */
const CALLS_PER_MINUTE = 300;
const MINUTE_MS = 60_000;
const INVITATIONS_PER_HOUR = 100;
/** Each is an email to a person who may not know the Organization. */
const INVITATIONS_PER_RECIPIENT = 10;

/** Rate limits of the login, shared by all nodes. Successful attempts count too. */
export function createLoginLimits({
  rateLimits,
  limits,
}: {
  rateLimits: RateLimits;
  limits: { rateLimitLoginPerEmail: number; rateLimitLoginPerAddress: number };
}) {
  const { rateLimitLoginPerEmail: perEmail, rateLimitLoginPerAddress: perAddress } = limits;
  const perSource: RateLimit = { name: 'login_email_address', limit: perEmail, windowMs: WINDOW_MS };
  const allSources: RateLimit = {
    ...perSource,
    name: 'login_email',
    limit: perEmail * ALL_SOURCES_FACTOR,
  };
  const knownNetwork: RateLimit = { ...allSources, name: 'login_email_network' };
  const perAddressLimit: RateLimit = { name: 'login_address', limit: perAddress, windowMs: WINDOW_MS };
  const codes: RateLimit = { name: 'login_code', limit: CODES_PER_HOUR, windowMs: HOUR_MS };
  const proofCodes: RateLimit = { ...codes, name: 'proof_code' };
  const resets: RateLimit = { name: 'password_reset', limit: PASSWORD_RESETS_PER_HOUR, windowMs: HOUR_MS };
  const account: RateLimit = { name: 'account', limit: ACCOUNT_CHECKS, windowMs: WINDOW_MS };
  const calls: RateLimit = {
    ...{ name: 'dashboard_member', limit: CALLS_PER_MINUTE, windowMs: MINUTE_MS },
    startsInBackground: true,
  };
  // Invitations are sent through /api, which has an error code of its own for rate limits.
  const invitations: RateLimit = {
    name: 'invitation',
    limit: INVITATIONS_PER_HOUR,
    windowMs: HOUR_MS,
    code: 'api_rate_limit_exceeded',
  };
  const recipients = { ...invitations, name: 'invitation_email', limit: INVITATIONS_PER_RECIPIENT };

  const count = (...keys: readonly LimitedKey[]) => countAll(rateLimits, keys);

  return {
    /** Guessing from other networks exhausts the limit of an email address, but not for networks its member is known from. */
    async password(
      email: string,
      address: string | undefined,
      isKnownNetwork: () => Promise<boolean>,
    ): Promise<Failure | undefined> {
      const [emailKey, addressKey] = [keyOf(email), countedAddress(address)];
      const refusal = await count(
        { limit: perSource, key: `${emailKey} ${addressKey}` },
        { limit: perAddressLimit, key: addressKey },
      );
      if (refusal) return refusal;
      const exhausted = await count({ limit: allSources, key: emailKey });
      if (!exhausted || !(await isKnownNetwork())) return exhausted;
      return count({ limit: knownNetwork, key: `${emailKey} ${networkOf(address)}` });
    },

    /** For passkeys and links, whose secrets cannot be guessed: bounds the cost of a flood. */
    address: (address: string | undefined) => count({ limit: perAddressLimit, key: countedAddress(address) }),

    /** Checks memory only, before the body is read. */
    blockedAddress: (address: string | undefined) =>
      rateLimits.blocked(perAddressLimit, countedAddress(address)),

    code: (memberGuid: string) => count({ limit: codes, key: memberGuid }),

    /** Separate from `code`: a stolen cookie must not exhaust the logins of its owner. */
    proofCode: (memberGuid: string) => count({ limit: proofCodes, key: memberGuid }),

    passwordReset: (email: string, address: string | undefined) =>
      count({ limit: resets, key: keyOf(email) }, { limit: perAddressLimit, key: countedAddress(address) }),

    account: (memberGuid: string) => count({ limit: account, key: memberGuid }),

    /** Every call with a session. */
    call: (memberGuid: string) => count({ limit: calls, key: memberGuid }),

    /** Of one recipient within the Organization, so that another one cannot keep the person from being invited. */
    invitation: (organizationGuid: string, email: string) =>
      count(
        { limit: invitations, key: organizationGuid },
        { limit: recipients, key: `${organizationGuid} ${keyOf(email)}` },
      ),
  };
}

/** Hashed, so that the counters do not store email addresses. */
function keyOf(email: string): string {
  return createHash('sha256').update(normalizeEmail(email)).digest('base64url');
}
