import type { Actor, Audit } from '../../../infrastructure/audit/service.ts';
import type { Database, Transaction } from '../../../infrastructure/database/database.ts';
import type { Clock } from '../../../infrastructure/runtime/clock.ts';
import { Failure, isFailure } from '../../../infrastructure/runtime/failure.ts';
import { createFairQueue, SHED } from '../../../infrastructure/runtime/fair-queue.ts';
import type { Guids, RandomBytes } from '../../../infrastructure/runtime/guid.ts';
import type { Log } from '../../../infrastructure/runtime/log.ts';
import type { Secret } from '../../../infrastructure/runtime/secret.ts';
import type { Revocations } from '../../../tokens/revoking/revocations.ts';
import { accountChange } from '../../account-change.ts';
import type { Networks } from '../limits/networks.ts';
import { generateSecret, hashSecret } from '../random-secret.ts';
import { type RequestSource, userActor } from '../request-source.ts';
import * as store from './session-store.ts';

export type { Session } from './session-store.ts';
export type Sessions = ReturnType<typeof createSessions>;
/** `secret` is the value of the session cookie. */
export type StartedSession = { session: store.Session; secret: Secret };

const IDLE_TIMEOUT_MS = 12 * 3_600_000;
export const SESSION_LIFETIME_MS = 7 * 24 * 3_600_000;
/** Precision of `last_seen_at`, so that not every request writes. */
const SEEN_PRECISION_MS = 60_000;
/** A new session beyond the limit ends the oldest one. */
const MAX_SESSIONS_PER_MEMBER = 20;
const MAX_USER_AGENT_CHARACTERS = 256;
const MAX_CONCURRENT_LOOKUPS = 4;
const QUEUED_LOOKUPS = { maxWaiting: 400, maxWaitingPerSource: 50 };
const RETRY_AFTER_SECONDS = 1;

type Deps = {
  database: Database;
  clock: Clock;
  guids: Guids;
  audit: Audit;
  randomBytes: RandomBytes;
  revocations: Revocations;
  networks: Networks;
  log: Log;
};
/** Whether the proof included a one-time password, a recovery code or a passkey. */
type Strength = { secondFactor: boolean };

/** Dashboard sessions. Ending a session revokes its user tokens on every node. */
export function createSessions(deps: Deps) {
  const { database, clock, guids, audit, randomBytes, revocations, networks, log } = deps;
  const { queries } = database.authentication;
  const lookups = createFairQueue({ atOnce: MAX_CONCURRENT_LOOKUPS, classes: { session: QUEUED_LOOKUPS } });

  function validity() {
    const now = clock.now();
    return { now, idleSince: new Date(now.getTime() - IDLE_TIMEOUT_MS) };
  }

  async function lookUp(secret: string): Promise<store.Session | undefined> {
    const { now, idleSince } = validity();
    const session = await store.selectActiveSession(queries, hashSecret(secret), { now, idleSince });
    if (session && now.getTime() - session.last_seen_at.getTime() >= SEEN_PRECISION_MS)
      await store.touchSession(queries, session.guid, now);
    return session;
  }

  /** Returns the revision for `revocations.propagate`; undefined if no session ended. */
  function revoke(transaction: Transaction, ended: readonly string[]): Promise<number> | undefined {
    const [first, ...others] = ended;
    return first === undefined ? undefined : revocations.revoke(transaction, 'token', first, ...others);
  }

  return {
    async start(
      transaction: Transaction,
      memberGuid: string,
      source: RequestSource,
      { secondFactor }: Strength,
    ): Promise<StartedSession> {
      const { address, userAgent } = source;
      const now = clock.now();
      const secret = generateSecret(randomBytes);
      const session: store.Session = {
        guid: guids.next(),
        member_guid: memberGuid,
        token_hash: hashSecret(secret.reveal()),
        created_at: now,
        last_seen_at: now,
        expires_at: new Date(now.getTime() + SESSION_LIFETIME_MS),
        address: address ?? null,
        user_agent: userAgent?.slice(0, MAX_USER_AGENT_CHARACTERS) ?? null,
        proved_at: now,
        second_factor_at: secondFactor ? now : null,
      };
      await networks.record(transaction, memberGuid, address);
      await store.insertSession(transaction, session);
      const evicted = await store.deleteOldSessions(transaction, memberGuid, MAX_SESSIONS_PER_MEMBER);
      const revision = await revoke(transaction, evicted);
      database.onEnd(transaction, (ending) => {
        if (ending === 'rolled back') return;
        revocations
          .propagate(revision)
          .catch((error: unknown) =>
            log.warn({ err: error }, 'revocation of evicted sessions not propagated'),
          );
      });
      const change = accountChange('session.create', memberGuid, { session: session.guid });
      await audit.record(transaction, userActor(memberGuid, source), change);
      return { session, secret };
    },

    /** Lookups are queued fairly by network: a flood of invalid cookies delays only its own network. */
    async find(secret: string, network: string): Promise<store.Session | Failure | undefined> {
      const found = await lookups.run('session', network, () => lookUp(secret));
      if (found !== SHED) return found;
      return new Failure('overloaded', 'Too many people are using the dashboard. Try again in a moment', {
        retryAfterSeconds: RETRY_AFTER_SECONDS,
      });
    },

    /** For a session that was active before the body was read. Costs no query while this node hears of revocations. */
    async checkNotEnded({ guid }: store.Session): Promise<Failure | undefined> {
      return (await revocations.isRevoked([guid])) ? sessionEnded() : undefined;
    },

    /** Locks the session, so that it cannot end before the transaction does. */
    async checkActive(transaction: Transaction, { guid }: store.Session): Promise<Failure | undefined> {
      if (await store.lockSession(transaction, guid)) return undefined;
      return sessionEnded();
    },

    async recordProof(
      transaction: Transaction,
      { guid, member_guid: memberGuid }: store.Session,
      source: RequestSource,
      { secondFactor }: Strength,
    ): Promise<void> {
      const now = clock.now();
      const proof = secondFactor ? { proved_at: now, second_factor_at: now } : { proved_at: now };
      await store.updateProof(transaction, guid, proof);
      const change = accountChange('session.prove', memberGuid, { session: guid });
      await audit.record(transaction, userActor(memberGuid, source), change);
    },

    list: (memberGuid: string) => store.selectActiveSessions(queries, memberGuid, validity()),

    /** Returns once no node accepts a token of the session. */
    async end(actor: Actor, memberGuid: string, guid: string): Promise<Failure | undefined> {
      const revision = await database.authentication.transaction(async (transaction) => {
        if (!(await store.deleteSession(transaction, memberGuid, guid)))
          return new Failure('not_found', 'There is no such session');
        await audit.record(transaction, actor, accountChange('session.end', memberGuid, { session: guid }));
        return revocations.revoke(transaction, 'token', guid);
      });
      if (isFailure(revision)) return revision;
      await revocations.propagate(revision);
      return undefined;
    },

    /** Ends every session of a member except one. The result goes to `revocations.propagate`. */
    async endOthers(
      transaction: Transaction,
      memberGuid: string,
      except?: string,
    ): Promise<number | undefined> {
      return revoke(transaction, await store.deleteSessionsOf(transaction, memberGuid, except));
    },

    sweep: () => store.deleteExpiredSessions(database.queries, validity()),
  };
}

function sessionEnded(): Failure {
  return new Failure('authentication_failed', 'Your session has ended. Log in again');
}
