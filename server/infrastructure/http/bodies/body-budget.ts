import { type BodyShare, createBodyPool } from './body-pool.ts';

/**
 * Request bytes that this process holds at once, from their arrival until the answer is out. Counted as they arrive:
 * a declared length that is never sent takes nothing.
 */
export type BodyBudget = ReturnType<typeof createBodyBudget>;

/** The sender of a body: an Organization, a member or the operator, or the network of an anonymous caller. */
export type BodySource = { key: string; isAnonymous: boolean };

/** Of the whole budget: all callers without credentials. The rest is for callers with credentials. */
const ANONYMOUS_PART = 1 / 4;
/** Of the whole budget: one caller with credentials. */
const CALLER_PART = 1 / 4;
/** Of the anonymous part: one network. */
const NETWORK_PART = 1 / 64;

export function createBodyBudget({ maxBytes }: { maxBytes: number }) {
  const anonymousBytes = maxBytes * ANONYMOUS_PART;
  const authenticated = createBodyPool({
    maxBytes: maxBytes - anonymousBytes,
    maxBytesOfSender: maxBytes * CALLER_PART,
    shedsOwn: false,
  });
  // Anonymous bodies are small and arrive at once. One that is still arriving when space runs out is slow on purpose,
  // or can be sent again.
  const anonymous = createBodyPool({
    maxBytes: anonymousBytes,
    maxBytesOfSender: anonymousBytes * NETWORK_PART,
    shedsOwn: true,
  });

  return {
    /** The share of one request. */
    open: ({ key, isAnonymous }: BodySource): BodyShare =>
      (isAnonymous ? anonymous : authenticated).open(key),

    /** Bytes held at this moment. */
    held: () => authenticated.held() + anonymous.held(),
  };
}
