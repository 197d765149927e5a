import { setTimeout as pause } from 'node:timers/promises';
import type { Actor } from '../../infrastructure/audit/service.ts';
import type { Notifications } from '../../infrastructure/database/connections/notifications.ts';
import type { Database, Transaction } from '../../infrastructure/database/database.ts';
import { createBatcher } from '../../infrastructure/runtime/batcher.ts';
import type { Clock } from '../../infrastructure/runtime/clock.ts';
import { Failure } from '../../infrastructure/runtime/failure.ts';
import type { Guids } from '../../infrastructure/runtime/guid.ts';
import type { Log } from '../../infrastructure/runtime/log.ts';
import { type Claims, EXPIRED_KEPT_MS, TOKEN_LIFETIME_SECONDS } from '../claims.ts';
import * as store from './revocation-store.ts';

/**
 * Revoked tokens: single ones, and all tokens of a removed key pair, an ended session, a changed membership, a revoked
 * parent token or a removed Organization.
 *
 * Every node keeps the list in memory under a lease that it renews each second. `propagate` notifies all nodes and returns
 * once each node with a valid lease has caught up. A node without a lease checks the database instead, so correctness does
 * not depend on the notification.
 */
export type Revocations = ReturnType<typeof createRevocations>;

const CHANNEL = 'portico_revocations';
const REVOCATION_LEASE_MS = 8_000;
/** A node stops using its memory this long before others stop waiting for it, because their clocks differ. */
const CLOCK_MARGIN_MS = 3_000;
const RENEW_EVERY_MS = 1_000;
const PAGE_ROWS = 10_000;
const MAX_LOOKUP_BATCH = 500;
/** Doubled with each look: a node that is slow or gone must not cost hundreds of queries. */
const FIRST_POLL_MS = 10;
const MAX_POLL_MS = 160;
/** Covers tokens signed shortly after the revocation, by a request in progress or a node whose clock is ahead. */
const LATE_TOKENS_MS = 60_000;

type Deps = { database: Database; notifications: Notifications; clock: Clock; guids: Guids; log: Log };

export function createRevocations({ database, notifications, clock, guids, log }: Deps) {
  const queries = database.reserved;
  const lookUpBatched = createBatcher<readonly string[], boolean>({
    run: (tokens) => store.areRevoked(queries, tokens),
    maxBatch: MAX_LOOKUP_BATCH,
  });
  const node = guids.next();
  const expiries = new Map<string, number>();
  let lastRevision = 0;
  let upToDateUntil = 0;
  let timer: NodeJS.Timeout | undefined;
  let syncing: Promise<void> | undefined;
  let syncAgain = false;
  let notifyListener = (_clientId: string | undefined): void => {};
  let readFreezes = (): Promise<void> => Promise.resolve();

  const now = () => clock.now().getTime();
  const warn = (error: unknown) => {
    log.warn({ reason: String(error) }, 'revocations are out of date; checking each token in the database');
  };

  /** Whether any is revoked. Checks memory while it is up to date, otherwise the database. */
  function isRevoked(subjects: readonly string[]): boolean | Promise<boolean> {
    if (now() >= upToDateUntil) return lookUpBatched(subjects);
    return subjects.some((subject) => expiries.has(subject));
  }

  /** Takes the lease before reading, so that every later revocation waits for this node. */
  async function syncOnce(): Promise<void> {
    const leaseUntil = now() + REVOCATION_LEASE_MS;
    // Changes missed without a lease may have been swept already.
    let freezesChanged = now() >= upToDateUntil;
    const lease = () =>
      store.upsertNode(queries, { guid: node, revision: lastRevision, lease_until: new Date(leaseUntil) });
    await lease();
    const before = lastRevision;
    try {
      let page: store.Revocation[];
      do {
        page = await store.selectRevocationsAfter(queries, lastRevision, PAGE_ROWS);
        for (const { revision, kind, subject, expires_at } of page) {
          if (kind === 'application' || kind === 'token') expiries.set(subject, expires_at.getTime());
          if (kind === 'application' || kind === 'edit') notifyListener(subject);
          if (kind === 'freeze') freezesChanged = true;
          lastRevision = revision;
        }
      } while (page.length === PAGE_ROWS);
      if (freezesChanged) {
        // The end of a removal has deleted key pairs, and an import has inserted some.
        notifyListener(undefined);
        await readFreezes();
      }
    } catch (error) {
      // The next sync reads them again, or it would confirm a freeze that this node has not read.
      lastRevision = before;
      throw error;
    }
    if (lastRevision > before) await lease();
    upToDateUntil = leaseUntil - CLOCK_MARGIN_MS;
  }

  /** Runs one sync at a time; a call during a sync starts another one after it. */
  function sync(): Promise<void> {
    if (!timer) return Promise.resolve();
    syncAgain = true;
    syncing ??= (async () => {
      try {
        while (syncAgain) {
          syncAgain = false;
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
    isRevoked,

    /** While true, no change has been missed by `onChange`. */
    isUpToDate: () => now() < upToDateUntil,

    /** Called for each changed or removed key pair before `propagate` returns; with undefined if changes may have been missed. */
    onChange(listener: (clientId: string | undefined) => void): void {
      notifyListener = listener;
    },

    /** Called when Organizations were frozen or unfrozen, or may have been; awaited before `propagate` returns. */
    onFreeze(listener: () => Promise<void>): void {
      readFreezes = listener;
    },

    /** Returns the revision to pass to `propagate` after the commit. */
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

    /**
     * For changes that give lasting access, after all other locks: refuses a change whose author lost the token since the
     * call was admitted. The change commits before a revocation, or is refused.
     */
    async checkAuthor(
      transaction: Transaction,
      { revocableBy: subjects }: Actor,
    ): Promise<Failure | undefined> {
      if (subjects === undefined) return undefined;
      await store.lockRevocations(transaction);
      const [hasEnded] = await store.areRevoked(transaction, [subjects]);
      return hasEnded ? tokenInvalid() : undefined;
    },

    /** Returns once no node accepts the tokens revoked by the revision. */
    async propagate(revision: number | undefined): Promise<void> {
      if (revision === undefined) return;
      await sync();
      // The revocation is committed: if the nodes cannot be checked, wait until every lease has expired.
      const allNodesCaughtUp = async () =>
        (await store.countNodesBehind(queries, revision, clock.now())) === 0;
      await notifications.notify(CHANNEL, [''], queries).catch(warn);
      for (let waitedMs = 0, pauseMs = FIRST_POLL_MS; waitedMs < REVOCATION_LEASE_MS; ) {
        if (await allNodesCaughtUp().catch(warn)) return;
        await pause(pauseMs);
        waitedMs += pauseMs;
        pauseMs = Math.min(pauseMs * 2, MAX_POLL_MS);
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
      upToDateUntil = 0;
      await store.deleteNode(queries, node);
    },

    async sweep(): Promise<void> {
      const moment = clock.now();
      for (const [subject, expiresAt] of expiries) if (expiresAt < moment.getTime()) expiries.delete(subject);
      await store.deleteRevocationsBefore(queries, new Date(moment.getTime() - EXPIRED_KEPT_MS));
      await store.deleteNodesBefore(queries, moment);
    },
  };
}

/** Everything that a token can be revoked by. */
export function subjectsOf(claims: Claims): string[] {
  const { sub, jti, organization_guid: organization, session_guid: session } = claims;
  const { grant_guid: grant = organization, parent_jti: parent } = claims;
  return [sub, jti, session, grant, parent].filter((subject) => subject !== undefined);
}

export function tokenInvalid(): Failure {
  return new Failure('authentication_failed', 'The access token is not valid');
}
