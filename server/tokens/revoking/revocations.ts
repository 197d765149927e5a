import { setTimeout as pause } from 'node:timers/promises';
import type { Notifications } from '../../infrastructure/database/connections/notifications.ts';
import type { Database, Transaction } from '../../infrastructure/database/database.ts';
import { createBatcher } from '../../infrastructure/runtime/batcher.ts';
import type { Clock } from '../../infrastructure/runtime/clock.ts';
import type { Guids } from '../../infrastructure/runtime/guid.ts';
import type { Log } from '../../infrastructure/runtime/log.ts';
import { type Claims, TOKEN_LIFETIME_SECONDS } from '../claims.ts';
import * as store from './revocation-store.ts';

/**
 * Which tokens are dead before their time: those revoked one by one, and all those of a removed key pair, of a
 * session that ended or of a membership that changed, and the customer tokens obtained with a revoked token (kind
 * `token` too: the subject is named in the token).
 *
 * Every node keeps the list in memory under a lease that it renews each second. A revocation is announced
 * to all nodes and `propagate` returns only when each node whose lease still runs has caught up, so "removed"
 * means removed everywhere. A node that cannot renew its lease stops trusting its memory and asks the
 * database instead. The notification only wakes; nothing depends on it.
 */
export type Revocations = ReturnType<typeof createRevocations>;

const CHANNEL = 'portico_revocations';
const LEASE_MS = 5_000;
const RENEW_EVERY_MS = 1_000;
const PAGE = 10_000;
const MAX_LOOK_UPS = 500;
const PROPAGATION_POLL_MS = 10;
/** A token may be signed a little after its key pair is gone: by a request under way, by a clock that is ahead. */
const LATE_TOKENS_MS = 60_000;

/**
 * What a token may die by: its key pair, itself, a person's by the session or the membership it came from, and a
 * customer's by the token it was obtained with.
 */
type Revocable = Pick<Claims, 'sub' | 'jti' | 'session_guid' | 'grant_guid' | 'parent_jti'>;

type Deps = { database: Database; notifications: Notifications; clock: Clock; guids: Guids; log: Log };

export function createRevocations({ database, notifications, clock, guids, log }: Deps) {
  const queries = database.reserved;
  // Look-ups of the same moment share one query: without the lease every call has one.
  const lookUp = createBatcher<readonly string[], boolean>({
    run: (tokens) => store.areRevoked(queries, tokens),
    maxBatch: MAX_LOOK_UPS,
  });
  const node = guids.next();
  const expiries = new Map<string, number>();
  let seen = 0;
  let trustedUntil = 0;
  let timer: NodeJS.Timeout | undefined;
  let syncing: Promise<void> | undefined;
  let again = false;
  let forget = (_clientId: string | undefined): void => {};

  const now = () => clock.now().getTime();
  const warn = (error: unknown) => {
    log.warn(
      { reason: String(error) },
      'revocations are not up to date; each token is checked in the database',
    );
  };

  /** From memory while the lease runs, else from the database. */
  function check({
    sub,
    jti,
    session_guid: session,
    grant_guid: grant,
    parent_jti: parent,
  }: Revocable): boolean | Promise<boolean> {
    if (now() >= trustedUntil)
      return lookUp([sub, jti, session, grant, parent].filter((subject) => subject !== undefined));
    if (expiries.has(sub) || expiries.has(jti)) return true;
    if (parent !== undefined && expiries.has(parent)) return true;
    return (session !== undefined && expiries.has(session)) || (grant !== undefined && expiries.has(grant));
  }

  /** The lease is taken before reading: whoever revokes after that moment sees this node and waits for it. */
  async function syncOnce(): Promise<void> {
    const leaseUntil = now() + LEASE_MS;
    // What happened while nobody was told may be swept by now.
    if (now() >= trustedUntil) forget(undefined);
    const lease = () =>
      store.upsertNode(queries, { guid: node, revision: seen, lease_until: new Date(leaseUntil) });
    await lease();
    const before = seen;
    let page: store.Revocation[];
    do {
      page = await store.selectRevocationsAfter(queries, seen, PAGE);
      for (const { revision, kind, subject, expires_at } of page) {
        if (kind !== 'edit') expiries.set(subject, expires_at.getTime());
        if (kind !== 'token') forget(subject);
        seen = revision;
      }
    } while (page.length === PAGE);
    if (seen > before) await lease();
    trustedUntil = leaseUntil;
  }

  /** One at a time; a call during one is served by another round right after it. */
  function sync(): Promise<void> {
    if (!timer) return Promise.resolve();
    again = true;
    syncing ??= (async () => {
      try {
        while (again) {
          again = false;
          await syncOnce();
        }
      } catch (error) {
        warn(error);
      } finally {
        syncing = undefined;
      }
    })();
    return syncing;
  }

  return {
    check,

    /** While this holds, whatever was not forgotten through `onChange` is as the database has it. */
    isUpToDate: () => now() < trustedUntil,

    /**
     * Told of each key pair that was changed or removed, before `propagate` returns on whatever node did it;
     * of all of them (undefined) after a time in which changes may have been missed.
     */
    onChange(listener: (clientId: string | undefined) => void): void {
      forget = listener;
    },

    /** In the transaction that takes the right away, or changes the key pair; hand the result to `propagate` once it has committed. */
    revoke(
      transaction: Transaction,
      kind: store.RevocationKind,
      ...subjects: readonly [string, ...string[]]
    ): Promise<number> {
      const created_at = clock.now();
      const expires_at = new Date(created_at.getTime() + TOKEN_LIFETIME_SECONDS * 1_000 + LATE_TOKENS_MS);
      return store.insertRevocations(
        transaction,
        subjects.map((subject) => ({ kind, subject, expires_at, created_at })),
      );
    },

    /** Returns when no node accepts what the revision took away. */
    async propagate(revision: number): Promise<void> {
      await sync();
      // It is committed: a failure to ask is no failure of the change, only a reason to wait for the longest.
      const allNodesCaughtUp = async () =>
        (await store.countNodesBehind(queries, revision, clock.now())) === 0;
      await notifications.notify(CHANNEL, [''], queries).catch(warn);
      for (let waitedMs = 0; waitedMs < LEASE_MS; waitedMs += PROPAGATION_POLL_MS) {
        if (await allNodesCaughtUp().catch(warn)) return;
        await pause(PROPAGATION_POLL_MS);
      }
    },

    async start(): Promise<void> {
      await notifications.listen(CHANNEL, () => void sync());
      timer = setInterval(() => void sync(), RENEW_EVERY_MS).unref();
      await sync();
    },

    async stop(): Promise<void> {
      if (!timer) return;
      clearInterval(timer);
      timer = undefined;
      await syncing;
      trustedUntil = 0;
      await store.deleteNode(queries, node);
    },

    /** What has expired anyway needs no revocation any more. */
    async sweep(): Promise<void> {
      const moment = clock.now();
      for (const [subject, expiresAt] of expiries) if (expiresAt < moment.getTime()) expiries.delete(subject);
      await store.deleteRevocationsBefore(queries, moment);
      await store.deleteNodesBefore(queries, moment);
    },
  };
}
