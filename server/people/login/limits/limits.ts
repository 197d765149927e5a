import { createHash } from 'node:crypto';
import { countedAddress, networkOf } from '../../../infrastructure/rate-limits/address.ts';
import type { RateLimit, RateLimits } from '../../../infrastructure/rate-limits/service.ts';
import type { Failure } from '../../../infrastructure/runtime/failure.ts';
import { normalEmail } from '../../members/people.ts';

export type LoginLimits = ReturnType<typeof createLoginLimits>;

const WINDOW_MS = 300_000;
const HOUR_MS = 3_600_000;
/** For one address from anywhere, as a multiple of what one source may try: it slows down many who guess together. */
const EVERYWHERE = 5;
/** Of a login, and as many of proofs. Six digits and three steps: ten an hour is a chance of 1 in 1,400 a day. */
const CODES_PER_HOUR = 10;
const PASSWORD_RESETS_PER_HOUR = 5;
/** By somebody who is logged in: current passwords, and codes of a new authenticator. */
const ACCOUNT_CHECKS = 20;
const INVITATIONS_PER_HOUR = 100;

type Use = { limit: RateLimit; key: string };

/** How often anything about logging in may be tried, over all nodes. Each try counts, also one that succeeds. */
export function createLoginLimits({
  rateLimits,
  limits,
}: {
  rateLimits: RateLimits;
  limits: { rateLimitLoginPerEmail: number; rateLimitLoginPerAddress: number };
}) {
  const { rateLimitLoginPerEmail: perEmail, rateLimitLoginPerAddress: perAddress } = limits;
  const here: RateLimit = { name: 'login_email_address', limit: perEmail, windowMs: WINDOW_MS };
  const anywhere: RateLimit = { name: 'login_email', limit: perEmail * EVERYWHERE, windowMs: WINDOW_MS };
  const nearby: RateLimit = { ...anywhere, name: 'login_email_network' };
  const source: RateLimit = { name: 'login_address', limit: perAddress, windowMs: WINDOW_MS };
  const codes: RateLimit = { name: 'login_code', limit: CODES_PER_HOUR, windowMs: HOUR_MS };
  const proofCodes: RateLimit = { ...codes, name: 'proof_code' };
  const resets: RateLimit = { name: 'password_reset', limit: PASSWORD_RESETS_PER_HOUR, windowMs: HOUR_MS };
  const account: RateLimit = { name: 'account', limit: ACCOUNT_CHECKS, windowMs: WINDOW_MS };
  // The only one of these limits under /api.
  const invitations: RateLimit = {
    name: 'invitation',
    limit: INVITATIONS_PER_HOUR,
    windowMs: HOUR_MS,
    code: 'api_rate_limit_exceeded',
  };

  /** Nothing is counted once one of the limits is known to be used up. */
  async function count(...uses: readonly Use[]): Promise<Failure | undefined> {
    for (const { limit, key } of uses) {
      const refusal = rateLimits.blocked(limit, key);
      if (refusal) return refusal;
    }
    const counted = await Promise.all(uses.map(({ limit, key }) => rateLimits.use(limit, key)));
    return counted.find((refusal) => refusal !== undefined);
  }

  return {
    /**
     * Wrong passwords from elsewhere do not lock a person out of a network that they log in from. Elsewhere they do, once
     * very many have been tried.
     */
    async password(
      email: string,
      address: string | undefined,
      isKnownNetwork: () => Promise<boolean>,
    ): Promise<Failure | undefined> {
      const [who, from] = [keyOf(email), countedAddress(address)];
      const refusal = await count({ limit: here, key: `${who} ${from}` }, { limit: source, key: from });
      if (refusal) return refusal;
      const exhausted = await count({ limit: anywhere, key: who });
      if (!exhausted || !(await isKnownNetwork())) return exhausted;
      return count({ limit: nearby, key: `${who} ${networkOf(address)}` });
    },

    /** Of passkeys and links, which nobody guesses: only so that a flood costs little. */
    from: (address: string | undefined) => count({ limit: source, key: countedAddress(address) }),

    /** From memory alone, before a body is read. */
    blockedFrom: (address: string | undefined) => rateLimits.blocked(source, countedAddress(address)),

    /** After a right password, or with a link for a new one. */
    code: (memberGuid: string) => count({ limit: codes, key: memberGuid }),

    /** By somebody who is logged in; counted apart, or a stolen cookie could use up its owner's logins. */
    proofCode: (memberGuid: string) => count({ limit: proofCodes, key: memberGuid }),

    passwordReset: (email: string, address: string | undefined) =>
      count({ limit: resets, key: keyOf(email) }, { limit: source, key: countedAddress(address) }),

    account: (memberGuid: string) => count({ limit: account, key: memberGuid }),

    invitation: (organizationGuid: string) => count({ limit: invitations, key: organizationGuid }),
  };
}

/** Counters are no list of addresses that somebody has typed. */
function keyOf(email: string): string {
  return createHash('sha256').update(normalEmail(email)).digest('base64url');
}
