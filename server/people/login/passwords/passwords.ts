import * as argon2 from '@node-rs/argon2';
import { Failure } from '../../../infrastructure/runtime/failure.ts';
import { createFairQueue, SHED } from '../../../infrastructure/runtime/fair-queue.ts';
import { normalizePassword } from './password-rules.ts';

/** Argon2id with the parameters that OWASP recommends: 19 MiB, two passes, one lane; about 20 ms. */
const MEMORY_KIBIBYTES = 19_456;
const PASSES = 2;
const LANES = 1;
const ARGON2ID = 2;
const COST: argon2.Options = {
  algorithm: ARGON2ID,
  memoryCost: MEMORY_KIBIBYTES,
  timeCost: PASSES,
  parallelism: LANES,
};

/** Half of the libuv thread pool, so that hashing does not block file and DNS work. */
const MAX_CONCURRENT_HASHES = 2;
/** About a second of work each. A source is a network, or a member identified by a session or a link. */
const MAX_WAITING_HASHES = 100;
const MAX_WAITING_HASHES_PER_NETWORK = 20;
const MAX_WAITING_HASHES_PER_PERSON = 5;
const RETRY_AFTER_SECONDS = 2;

const base64 = (bytes: number) => Buffer.alloc(bytes).toString('base64').replaceAll('=', '');
/** Verified in place of a missing hash, so that known and unknown addresses take the same time. */
const DECOY_HASH = `$argon2id$v=19$m=${MEMORY_KIBIBYTES},t=${PASSES},p=${LANES}$${base64(16)}$${base64(32)}`;

/**
 * Requester of a hash. Each class has a queue of its own, so that a flood of logins from unknown networks delays neither
 * members with a session or link nor logins from their known networks.
 */
export type HashRequester = { class: 'known_person' | 'known_network' | 'anyone'; source: string };
export type Passwords = ReturnType<typeof createPasswords>;
export type PasswordHasher = Pick<typeof argon2, 'hash' | 'verify'>;

/** Password hashing on worker threads, with bounded concurrency. */
export function createPasswords({ hash, verify }: PasswordHasher = argon2) {
  const queue = createFairQueue<HashRequester['class']>({
    atOnce: MAX_CONCURRENT_HASHES,
    classes: {
      known_person: bounds(MAX_WAITING_HASHES_PER_PERSON),
      known_network: bounds(MAX_WAITING_HASHES_PER_NETWORK),
      anyone: bounds(MAX_WAITING_HASHES_PER_NETWORK),
    },
  });

  async function bounded<T>(requester: HashRequester, work: () => Promise<T>): Promise<T | Failure> {
    const outcome = await queue.run(requester.class, requester.source, work);
    if (outcome !== SHED) return outcome;
    return new Failure('overloaded', 'Too many people are logging in. Try again in a moment', {
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    });
  }

  return {
    hash: (requester: HashRequester, password: string) =>
      bounded(requester, () => hash(normalizePassword(password), COST)),

    /** Takes the same time without a stored hash. */
    async matches(
      requester: HashRequester,
      stored: string | null | undefined,
      password: string,
    ): Promise<boolean | Failure> {
      const matched = await bounded(requester, () =>
        verify(stored ?? DECOY_HASH, normalizePassword(password)),
      );
      return matched instanceof Failure ? matched : matched && typeof stored === 'string';
    },
  };
}

function bounds(maxWaitingPerSource: number) {
  return { maxWaiting: MAX_WAITING_HASHES, maxWaitingPerSource };
}

/** A member identified by a session or a link. */
export function knownPerson(memberGuid: string): HashRequester {
  return { class: 'known_person', source: memberGuid };
}
