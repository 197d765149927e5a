import { type BodyPool, type BodyShare, createBodyPool } from './body-pool.ts';

/**
 * Limits the request bytes that this process holds at once, from arrival to the end of the response. Bytes count when
 * they arrive, so a declared Content-Length that is never sent costs nothing.
 */
export type BodyBudget = ReturnType<typeof createBodyBudget>;

/** An Organization, a member or the operator; for an anonymous caller, its network. */
export type BodySource = { key: string; kind: Kind };
type Kind = 'anonymous' | 'call' | 'long text';

/**
 * Shares of the whole budget. Long texts have their own, because files whose storage is silent are held for minutes and must
 * not block other calls. A complete body is never shed, so a kind is divided among at least two senders.
 */
const ANONYMOUS_PART = 1 / 4;
const CALL_PART = 1 / 4;
const LONG_TEXT_PART = 1 / 2;
/** Of the share of its kind. */
const NETWORK_PART = 1 / 64;
const CALLER_PART = 1 / 2;

export function createBodyBudget({ maxBytes }: { maxBytes: number }) {
  function poolOf(part: number, senderPart: number, { shedsOwn }: { shedsOwn: boolean }) {
    return createBodyPool({
      maxBytes: maxBytes * part,
      maxBytesOfSender: maxBytes * part * senderPart,
      shedsOwn,
    });
  }

  const pools = {
    // Anonymous bodies are small and arrive at once. A body that is still arriving when the budget is exhausted is slow
    // on purpose, or can be sent again.
    anonymous: poolOf(ANONYMOUS_PART, NETWORK_PART, { shedsOwn: true }),
    call: poolOf(CALL_PART, CALLER_PART, { shedsOwn: false }),
    'long text': poolOf(LONG_TEXT_PART, CALLER_PART, { shedsOwn: false }),
  } satisfies Record<Kind, BodyPool>;

  return {
    open: ({ key, kind }: BodySource): BodyShare => pools[kind].open(key),
    held: () => Object.values(pools).reduce((sum, pool) => sum + pool.held(), 0),
  };
}
