import type { Base } from '../base.ts';
import type { Queries } from '../database/database.ts';
import { deleteCreatedUntil } from '../database/delete-old.ts';
import { later } from '../runtime/clock.ts';
import type { Encryption } from '../runtime/encryption.ts';
import { Failure, isFailure } from '../runtime/failure.ts';
import * as store from './store.ts';

export type { KeyedRequest } from './store.ts';

/** Without a body if it showed a secret. */
type Answer = { status: number; body?: string };
export type IdempotencyKeys = ReturnType<typeof createIdempotencyKeys>;

type Replay = { replayed: Required<Answer> };

const LIFETIME_MS = 24 * 3_600_000;
/** Longer than a request takes. Ends the claim of a process that was killed. */
const LEASE_MS = 60_000;
/** Most requests end sooner than this. */
const RETRY_AFTER_SECONDS = 1;

/** Another request has claimed the key, because the lease of this one had expired. */
class ClaimLost extends Error {}

/**
 * Requests that can be repeated. A key is claimed under a lease before the work, and completed in the transaction of the
 * work, which rolls back if the claim was lost: so the work of two requests with one key never commits twice. Without a
 * commit the key can be used again.
 */
export function createIdempotencyKeys({
  database,
  clock,
  guids,
  log,
  encryption,
}: Pick<Base, 'database' | 'clock' | 'guids' | 'log'> & { encryption: Encryption }) {
  const { queries } = database;

  /** If this fails, the lease ends the claim. */
  async function release(claim: store.Claim): Promise<void> {
    try {
      await store.releaseKey(queries, claim);
    } catch (error) {
      log.warn({ err: error }, 'releasing an idempotency key failed');
    }
  }

  function answerOf(
    found: Awaited<ReturnType<typeof store.claimKey>>,
    request: store.KeyedRequest,
  ): Replay | Failure {
    if (found && !found.fingerprint.equals(request.fingerprint))
      return new Failure(
        'idempotency_key_reused',
        'Idempotency-Key was used for a different request; use a new key for each operation',
      );
    if (!found || found.status === null) return inProgress();
    const { status, body_encrypted: body } = found;
    if (body === null)
      return new Failure(
        'idempotency_secret_shown',
        'The first request with this Idempotency-Key succeeded, and only its response showed the secret. If you did not receive it, delete what was created and send the request with a new key',
      );
    return { replayed: { status, body: encryption.decrypt(body, contextOf(request)) } };
  }

  return {
    /** Runs the work, which has to record its answer, or returns the answer of the first request with this key. */
    async run<Row>(
      request: store.KeyedRequest,
      work: (record: (transaction: Queries, answer: Answer) => Promise<void>) => Promise<Row | Failure>,
    ): Promise<{ row: Row } | Replay | Failure> {
      const claim = { ...request, claim: guids.next() };
      const now = clock.now();
      const found = await store.claimKey(queries, claim, {
        now,
        lockedUntil: later(now, LEASE_MS),
        expiredBy: later(now, -LIFETIME_MS),
      });
      if (found?.claim !== claim.claim) return answerOf(found, request);
      let isRecorded = false;
      let row: Row | Failure;
      try {
        row = await work(async (transaction, { status, body }) => {
          // Encrypted: an answer may have the upload link of a file, which access to the database alone must not reveal.
          const body_encrypted = body === undefined ? null : encryption.encrypt(body, contextOf(request));
          if (!(await store.completeKey(transaction, claim, { status, body_encrypted })))
            throw new ClaimLost();
          isRecorded = true;
        });
      } catch (error) {
        if (error instanceof ClaimLost) return inProgress();
        await release(claim);
        throw error;
      }
      if (isFailure(row)) {
        await release(claim);
        return row;
      }
      if (!isRecorded) throw new Error('the answer to a request with an Idempotency-Key was not recorded');
      return { row };
    },

    /** Deletes expired keys; returns their number. */
    sweep: () => deleteCreatedUntil(database, 'idempotency_keys', later(clock.now(), -LIFETIME_MS)),
  };
}

export function contextOf({ owner, key }: Pick<store.KeyedRequest, 'owner' | 'key'>): string {
  return `idempotency key ${owner} ${key}`;
}

function inProgress(): Failure {
  return new Failure(
    'idempotency_in_progress',
    'A request with this Idempotency-Key is still in progress; send it again after Retry-After seconds',
    { retryAfterSeconds: RETRY_AFTER_SECONDS },
  );
}
