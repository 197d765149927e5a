import { ApiError } from './api-error.ts';
import { send } from './send.ts';
import type { Environment, IssuedToken } from './types.ts';

/** Tokens are renewed this long before they expire, so that none expires during a call. */
const RENEW_BEFORE_MS = 60_000;

export type Tenancy = { organizationGuid: string; environment: Environment };
export type Tokens = ReturnType<typeof createTokens>;
export type TokenSource = Pick<Tokens, 'tokenFor' | 'invalidate'>;
type CachedToken = { token: string; renewAt: number };

/** After the end of the session: calls fail without a request until the user logs in again. */
export const NO_TOKENS: TokenSource = {
  tokenFor: async () => {
    throw new ApiError('Your session has ended. Log in again.', {
      status: 401,
      code: 'authentication_failed',
    });
  },
  invalidate: () => undefined,
};

/** User tokens per Organization and environment, kept in memory only. */
export function createTokens() {
  const cache = new Map<string, CachedToken>();
  const pending = new Map<string, Promise<CachedToken>>();

  /** A response is dropped if `invalidate` or `clear` ran in the meantime: it may belong to the previous session. */
  function request(key: string, tenancy: Tenancy): Promise<CachedToken> {
    const issuing = issueToken(tenancy);
    const isCurrent = () => pending.get(key) === issuing;
    pending.set(key, issuing);
    issuing
      .then(
        (issued) => void (isCurrent() && cache.set(key, issued)),
        () => undefined,
      )
      .finally(() => void (isCurrent() && pending.delete(key)));
    return issuing;
  }

  return {
    async tokenFor(tenancy: Tenancy): Promise<string> {
      const key = keyOf(tenancy);
      const cached = cache.get(key);
      if (cached && Date.now() < cached.renewAt) return cached.token;
      return (await (pending.get(key) ?? request(key, tenancy))).token;
    },
    invalidate: (tenancy: Tenancy): void => {
      cache.delete(keyOf(tenancy));
      pending.delete(keyOf(tenancy));
    },
    clear: (): void => {
      cache.clear();
      pending.clear();
    },
  };
}

async function issueToken({ organizationGuid, environment }: Tenancy): Promise<CachedToken> {
  const issued = await send<IssuedToken>({
    method: 'POST',
    path: '/dashboard/token',
    body: { organization_guid: organizationGuid, environment },
  });
  const renewAt = Date.now() + issued.expires_in * 1000 - RENEW_BEFORE_MS;
  return { token: issued.access_token, renewAt };
}

function keyOf({ organizationGuid, environment }: Tenancy): string {
  return `${organizationGuid}/${environment}`;
}
