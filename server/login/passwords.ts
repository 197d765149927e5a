import { hash, type Options, verify } from '@node-rs/argon2';
import { Failure } from '../runtime/failure.ts';
import { createWorkQueue } from '../runtime/work-queue.ts';

/** Argon2id with the first of the settings that OWASP recommends: 19 MiB, two passes, one lane; about 20 ms. */
const MEMORY_KIBIBYTES = 19_456;
const PASSES = 2;
const LANES = 1;
const ARGON2ID = 2;
const COST: Options = {
  algorithm: ARGON2ID,
  memoryCost: MEMORY_KIBIBYTES,
  timeCost: PASSES,
  parallelism: LANES,
};

/** Of the four threads that Node shares among all such work, so that files and names are not held up by logins. */
const HASHES_AT_ONCE = 2;
/** About two seconds of work. */
const MAX_WAITING_HASHES = 100;
const RETRY_AFTER_SECONDS = 2;

const base64 = (bytes: number) => Buffer.alloc(bytes).toString('base64').replaceAll('=', '');
/** Of no password: what an unknown address is compared with, so that it costs what a known one does. */
const NOBODY = `$argon2id$v=19$m=${MEMORY_KIBIBYTES},t=${PASSES},p=${LANES}$${base64(16)}$${base64(32)}`;

export type Passwords = ReturnType<typeof createPasswords>;

/** Slow on purpose, therefore on other threads than this one, and only so many at once. */
export function createPasswords() {
  const queue = createWorkQueue({ atOnce: HASHES_AT_ONCE, maxWaiting: MAX_WAITING_HASHES });

  async function bounded<T>(work: () => Promise<T>): Promise<T | Failure> {
    return (
      queue.run(work) ??
      new Failure('overloaded', 'Too many people are logging in; try again in a moment', {
        retryAfterSeconds: RETRY_AFTER_SECONDS,
      })
    );
  }

  return {
    hash: (password: string) => bounded(() => hash(normal(password), COST)),

    /** False without a hash, after the same work. */
    async matches(stored: string | null | undefined, password: string): Promise<boolean | Failure> {
      const matched = await bounded(() => verify(stored ?? NOBODY, normal(password)));
      return matched instanceof Failure ? matched : matched && typeof stored === 'string';
    },
  };
}

/** The same letters from whatever keyboard (NIST SP 800-63B, section 3.1.1.2). */
function normal(password: string): string {
  return password.normalize('NFKC');
}
