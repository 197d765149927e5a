import { type BodyShare, createBodyPool } from './body-pool.ts';

/**
 * Limits the request bytes that this process holds at once, from arrival to the end of the response. Bytes count when
 * they arrive, so a declared Content-Length that is never sent costs nothing.
 */
export type BodyBudget = ReturnType<typeof createBodyBudget>;

/** An Organization, a member or the operator; for an anonymous caller, its network. */
export type BodySource = { key: string; isAnonymous: boolean };

/** Share of all anonymous callers in the whole budget. */
const ANONYMOUS_PART = 1 / 4;
/** Share of one authenticated caller in the whole budget. */
const CALLER_PART = 1 / 4;
/** Share of one network in the anonymous part. */
const NETWORK_PART = 1 / 64;

export function createBodyBudget({ maxBytes }: { maxBytes: number }) {
  const anonymousBytes = maxBytes * ANONYMOUS_PART;
  const authenticated = createBodyPool({
    maxBytes: maxBytes - anonymousBytes,
    maxBytesOfSender: maxBytes * CALLER_PART,
    shedsOwn: false,
  });
  // Anonymous bodies are small and arrive at once. A body that is still arriving when the budget is exhausted is slow
  // on purpose, or can be sent again.
  const anonymous = createBodyPool({
    maxBytes: anonymousBytes,
    maxBytesOfSender: anonymousBytes * NETWORK_PART,
    shedsOwn: true,
  });

  return {
    open: ({ key, isAnonymous }: BodySource): BodyShare =>
      (isAnonymous ? anonymous : authenticated).open(key),

    held: () => authenticated.held() + anonymous.held(),
  };
}
