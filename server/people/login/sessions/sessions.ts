import type { Actor, Audit } from '../../../infrastructure/audit/service.ts';
import type { Database, Transaction } from '../../../infrastructure/database/database.ts';
import type { Clock } from '../../../infrastructure/runtime/clock.ts';
import { Failure, isFailure } from '../../../infrastructure/runtime/failure.ts';
import { createFairQueue, SHED } from '../../../infrastructure/runtime/fair-queue.ts';
import type { Guids, RandomBytes } from '../../../infrastructure/runtime/guid.ts';
import type { Log } from '../../../infrastructure/runtime/log.ts';
import type { Secret } from '../../../infrastructure/runtime/secret.ts';
import type { Revocations } from '../../../tokens/revoking/revocations.ts';
import type { Networks } from '../limits/networks.ts';
import { generateSecret, hashOf } from '../links/one-time-secret.ts';
import * as store from './session-store.ts';

export type { Session } from './session-store.ts';
export type Sessions = ReturnType<typeof createSessions>;
/** Where a request comes from, as a session remembers it. */
export type Visitor = { address: string | undefined; userAgent: string | undefined };

/** A working day without a word ends a session. */
const IDLE_MS = 12 * 3_600_000;
export const SESSION_LIFETIME_MS = 7 * 24 * 3_600_000;
/** `last_seen_at` is this exact, so that a busy dashboard does not write on every call. */
const SEEN_EVERY_MS = 60_000;
/** The oldest gives way. */
const MAX_SESSIONS_OF_MEMBER = 20;
const MAX_USER_AGENT_CHARACTERS = 256;
/** Sessions that are looked up at the same time, each by one key; the others wait, within limits. */
const LOOK_UPS_AT_ONCE = 4;
const WAITING_LOOK_UPS = { maxWaiting: 400, maxWaitingPerSource: 50 };
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
/** Whether a one-time password, a recovery code or a passkey was part of the proof. */
type Strength = { secondFactor?: boolean };

/** Who is logged in, and from where. A session that ends takes its user tokens with it, on every node. */
export function createSessions(deps: Deps) {
  const { database, clock, guids, audit, randomBytes, revocations, networks, log } = deps;
  const { queries } = database.authentication;
  const lookUps = createFairQueue({ atOnce: LOOK_UPS_AT_ONCE, classes: { session: WAITING_LOOK_UPS } });

  function limits() {
    const now = clock.now();
    return { now, idleSince: new Date(now.getTime() - IDLE_MS) };
  }

  async function lookUp(secret: string): Promise<store.Session | undefined> {
    const { now, idleSince } = limits();
    const session = await store.selectLiveSession(queries, hashOf(secret), { now, idleSince });
    if (session && now.getTime() - session.last_seen_at.getTime() >= SEEN_EVERY_MS)
      await store.touchSession(queries, session.guid, now);
    return session;
  }

  /** What to hand to `propagate` after the commit; undefined when nothing ended. */
  function revoke(transaction: Transaction, ended: readonly string[]): Promise<number> | undefined {
    const [first, ...others] = ended;
    return first === undefined ? undefined : revocations.revoke(transaction, 'token', first, ...others);
  }

  return {
    /** The secret is the cookie's value, and nowhere else. */
    async start(
      transaction: Transaction,
      actor: Actor,
      memberGuid: string,
      { address, userAgent }: Visitor,
      { secondFactor = false }: Strength = {},
    ): Promise<{ session: store.Session; secret: Secret }> {
      const now = clock.now();
      const secret = generateSecret(randomBytes);
      const session: store.Session = {
        guid: guids.next(),
        member_guid: memberGuid,
        token_hash: hashOf(secret.reveal()),
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
      const crowdedOut = await store.deleteOldSessions(transaction, memberGuid, MAX_SESSIONS_OF_MEMBER);
      const revision = await revoke(transaction, crowdedOut);
      if (revision !== undefined)
        database.onEnd(transaction, (ending) => {
          if (ending === 'rolled back') return;
          revocations
            .propagate(revision)
            .catch((error: unknown) => log.warn({ err: error }, 'a session that gave way was not announced'));
        });
      await audit.record(transaction, actor, about('session.create', memberGuid, { session: session.guid }));
      return { session, secret };
    },

    /** Networks take turns: a flood of made-up cookies holds up its own network only. */
    async find(secret: string, network: string): Promise<store.Session | Failure | undefined> {
      const found = await lookUps.run('session', network, () => lookUp(secret));
      if (found !== SHED) return found;
      return new Failure('overloaded', 'Too many people are using the dashboard. Try again in a moment', {
        retryAfterSeconds: RETRY_AFTER_SECONDS,
      });
    },

    /** Undefined while it is there, and then it stays until the transaction ends. */
    async checkActive(transaction: Transaction, { guid }: store.Session): Promise<Failure | undefined> {
      if (await store.holdSession(transaction, guid)) return undefined;
      return new Failure('authentication_failed', 'You are not logged in any more');
    },

    /** Its person has shown once more who they are. */
    async prove(
      transaction: Transaction,
      actor: Actor,
      { guid, member_guid: memberGuid }: store.Session,
      { secondFactor = false }: Strength = {},
    ): Promise<void> {
      const now = clock.now();
      const proof = secondFactor ? { proved_at: now, second_factor_at: now } : { proved_at: now };
      await store.updateProof(transaction, guid, proof);
      await audit.record(transaction, actor, about('session.prove', memberGuid, { session: guid }));
    },

    list: (memberGuid: string) => store.selectLiveSessions(queries, memberGuid, limits()),

    /** When this returns, no node accepts a token that was got with the session. */
    async end(actor: Actor, memberGuid: string, guid: string): Promise<Failure | undefined> {
      const revision = await database.authentication.transaction(async (transaction) => {
        if (!(await store.deleteSession(transaction, memberGuid, guid)))
          return new Failure('not_found', 'There is no such session');
        await audit.record(transaction, actor, about('session.end', memberGuid, { session: guid }));
        return revocations.revoke(transaction, 'token', guid);
      });
      if (isFailure(revision)) return revision;
      await revocations.propagate(revision);
      return undefined;
    },

    /** Every session of this person but the one named; the result goes to `revocations.propagate`. */
    async endOthers(
      transaction: Transaction,
      memberGuid: string,
      except?: string,
    ): Promise<number | undefined> {
      return revoke(transaction, await store.deleteSessionsOf(transaction, memberGuid, except));
    },

    sweep: () => store.deleteEndedSessions(database.queries, limits()),
  };
}

function about(action: `session.${string}`, memberGuid: string, changes: Record<string, unknown>) {
  return { action, objectType: 'account', objectId: memberGuid, changes };
}
