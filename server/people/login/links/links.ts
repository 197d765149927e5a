import type { Database, Transaction } from '../../../infrastructure/database/database.ts';
import type { Clock } from '../../../infrastructure/runtime/clock.ts';
import { Failure } from '../../../infrastructure/runtime/failure.ts';
import type { RandomBytes } from '../../../infrastructure/runtime/guid.ts';
import { Secret } from '../../../infrastructure/runtime/secret.ts';
import { generateSecret, hashSecret } from '../random-secret.ts';
import * as store from './link-store.ts';

export type { LinkRow } from './link-store.ts';
export type Links = ReturnType<typeof createLinks>;
export type IssuedLink = { link: Secret; expiresAt: Date };

const INVITATION_LIFETIME_MS = 7 * 24 * 3_600_000;
const PASSWORD_RESET_LIFETIME_MS = 24 * 3_600_000;

type Deps = { database: Database; clock: Clock; randomBytes: RandomBytes; baseUrl: string };

/** One-time links. The secret is in the URL fragment, which browsers do not send to servers. */
export function createLinks({ database, clock, randomBytes, baseUrl }: Deps) {
  return {
    /** `organizationGuid` is null for a password reset. Only the newest link is valid: the previous one may be lost or stolen. */
    async issue(
      transaction: Transaction,
      memberGuid: string,
      organizationGuid: string | null,
    ): Promise<IssuedLink> {
      const secret = generateSecret(randomBytes);
      const now = clock.now();
      const lifetimeMs = organizationGuid === null ? PASSWORD_RESET_LIFETIME_MS : INVITATION_LIFETIME_MS;
      const expiresAt = new Date(now.getTime() + lifetimeMs);
      await store.deleteLinksOf(transaction, memberGuid, organizationGuid);
      await store.insertLink(transaction, {
        token_hash: hashSecret(secret.reveal()),
        member_guid: memberGuid,
        purpose: organizationGuid === null ? 'password_reset' : 'invitation',
        organization_guid: organizationGuid,
        created_at: now,
        expires_at: expiresAt,
      });
      return { link: new Secret(`${baseUrl}/set-password#token=${secret.reveal()}`), expiresAt };
    },

    /** Withdraws the invitation to an Organization; with null, the password reset links. */
    withdraw: store.deleteLinksOf,

    async inspect(token: string): Promise<store.LinkRow | Failure> {
      const { queries } = database.authentication;
      return (await store.selectLink(queries, hashSecret(token), clock.now())) ?? linkNotFound();
    },

    async use(transaction: Transaction, token: string): Promise<store.LinkRow | Failure> {
      return (await store.deleteLink(transaction, hashSecret(token), clock.now())) ?? linkNotFound();
    },

    sweep: () => store.deleteExpiredLinks(database.queries, clock.now()),
  };
}

/** The same message for unknown, used, expired and replaced links. */
function linkNotFound(): Failure {
  return new Failure('not_found', 'This link has expired or was already used. Request a new one');
}
