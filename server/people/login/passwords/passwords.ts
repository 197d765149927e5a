import * as argon2 from '@node-rs/argon2';
import { Failure } from '../../../infrastructure/runtime/failure.ts';
import { createFairQueue, SHED } from '../../../infrastructure/runtime/fair-queue.ts';

/** Argon2id with the first of the settings that OWASP recommends: 19 MiB, two passes, one lane; about 20 ms. */
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

/** Of the four threads that Node shares among all such work, so that files and names are not held up by logins. */
const HASHES_AT_ONCE = 2;
/** About a second of work each. A source is a network, or a person who is known by a session or a link. */
const MAX_WAITING_HASHES = 100;
const MAX_WAITING_HASHES_PER_NETWORK = 20;
const MAX_WAITING_HASHES_PER_PERSON = 5;
const RETRY_AFTER_SECONDS = 2;

const base64 = (bytes: number) => Buffer.alloc(bytes).toString('base64').replaceAll('=', '');
/** Of no password: what an unknown address is compared with, so that it costs what a known one does. */
const DECOY_HASH = `$argon2id$v=19$m=${MEMORY_KIBIBYTES},t=${PASSES},p=${LANES}$${base64(16)}$${base64(32)}`;

/**
 * Who waits for a hash. People with a session or a link, logins from a network that the person logged in from before, and
 * all other logins do not wait for each other: a flood of logins from anywhere holds up neither of the first two.
 */
export type HashRequester = { class: 'known_person' | 'known_network' | 'anyone'; source: string };
export type Passwords = ReturnType<typeof createPasswords>;
export type PasswordHasher = Pick<typeof argon2, 'hash' | 'verify'>;

/** Slow on purpose, therefore on other threads than this one, and only so many at once. */
export function createPasswords({ hash, verify }: PasswordHasher = argon2) {
  const queue = createFairQueue<HashRequester['class']>({
    atOnce: HASHES_AT_ONCE,
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
      bounded(requester, () => hash(normal(password), COST)),

    /** False without a hash, after the same work. */
    async matches(
      requester: HashRequester,
      stored: string | null | undefined,
      password: string,
    ): Promise<boolean | Failure> {
      const matched = await bounded(requester, () => verify(stored ?? DECOY_HASH, normal(password)));
      return matched instanceof Failure ? matched : matched && typeof stored === 'string';
    },
  };
}

function bounds(maxWaitingPerSource: number) {
  return { maxWaiting: MAX_WAITING_HASHES, maxWaitingPerSource };
}

/** Somebody with a session or a link that is theirs. */
export function knownPerson(memberGuid: string): HashRequester {
  return { class: 'known_person', source: memberGuid };
}

/** The same letters from whatever keyboard (NIST SP 800-63B, section 3.1.1.2). */
function normal(password: string): string {
  return password.normalize('NFKC');
}
