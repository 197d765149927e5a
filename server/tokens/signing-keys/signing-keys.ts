import { type CryptoKey, exportJWK, generateKeyPair, importJWK, type JWK } from 'jose';
import type { Actor, Audit } from '../../infrastructure/audit/service.ts';
import type { Database, Transaction } from '../../infrastructure/database/database.ts';
import type { Clock } from '../../infrastructure/runtime/clock.ts';
import type { Encryption } from '../../infrastructure/runtime/encryption.ts';
import { Failure } from '../../infrastructure/runtime/failure.ts';
import type { Guids } from '../../infrastructure/runtime/guid.ts';
import type { Log } from '../../infrastructure/runtime/log.ts';
import { TOKEN_LIFETIME_SECONDS } from '../claims.ts';
import * as store from './signing-key-store.ts';

/**
 * The keys that sign tokens, encrypted in the database. When each one signs follows from its `signs_from`:
 * a new key is published first and signs only once every node and every verifier has had time to see it;
 * an old one stays published until the last token that it signed has expired.
 */
export type SigningKeys = ReturnType<typeof createSigningKeys>;
export type SigningKey = {
  kid: string;
  signsFrom: Date;
  publicJwk: JWK;
  publicKey: CryptoKey;
  privateKey: CryptoKey;
};

export const ALGORITHM = 'ES256';
/** What verifiers may keep of the published keys; stays well below the time a new key is published ahead. */
export const JWKS_MAX_AGE_SECONDS = 300;
const PUBLISHED_AHEAD_MS = 600_000;
/** Every node looks again this often, and at an unknown key id, but then not more often than the second. */
const RELOAD_AFTER_MS = 60_000;
const RELOAD_FOR_UNKNOWN_AFTER_MS = 5_000;

type Deps = {
  database: Database;
  encryption: Encryption;
  clock: Clock;
  guids: Guids;
  audit: Audit;
  log: Log;
};

export function createSigningKeys({ database, encryption, clock, guids, audit, log }: Deps) {
  let loaded: Promise<readonly SigningKey[]> | undefined;
  let loadedAt = 0;

  const ageMs = () => clock.now().getTime() - loadedAt;

  function keys(olderThanMs = RELOAD_AFTER_MS): Promise<readonly SigningKey[]> {
    if (loaded === undefined || ageMs() >= olderThanMs) {
      const previous = loaded;
      loadedAt = clock.now().getTime();
      loaded = load().catch((error: unknown) => {
        loaded = previous;
        // The keys at hand are as good as they were; without any there is nothing to go on with.
        if (!previous) throw error;
        log.warn({ err: error }, 'the signing keys could not be read again');
        return previous;
      });
    }
    return loaded;
  }

  async function load(): Promise<readonly SigningKey[]> {
    const rows = await store.selectSigningKeys(database.reserved);
    if (rows.length > 0) return Promise.all(rows.map(open));
    await database.authentication.transaction(async (transaction) => {
      await store.lockSigningKeys(transaction);
      const existing = await store.selectSigningKeys(transaction);
      if (existing.length === 0) await create(transaction, clock.now());
    });
    return load();
  }

  async function open(row: store.SigningKeyRow): Promise<SigningKey> {
    const privateJwk = JSON.parse(encryption.decrypt(row.private_jwk_encrypted, contextOf(row.kid))) as JWK;
    const publicJwk = { ...(row.public_jwk as JWK), kid: row.kid, alg: ALGORITHM, use: 'sig' };
    return {
      kid: row.kid,
      signsFrom: row.signs_from,
      publicJwk,
      publicKey: (await importJWK(publicJwk, ALGORITHM)) as CryptoKey,
      privateKey: (await importJWK(privateJwk, ALGORITHM)) as CryptoKey,
    };
  }

  async function create(transaction: Transaction, signsFrom: Date): Promise<store.SigningKeyRow['kid']> {
    const pair = await generateKeyPair(ALGORITHM, { extractable: true });
    const kid = guids.next();
    const privateJwk = JSON.stringify(await exportJWK(pair.privateKey));
    await store.insertSigningKey(transaction, {
      kid,
      public_jwk: JSON.stringify(await exportJWK(pair.publicKey)),
      private_jwk_encrypted: encryption.encrypt(privateJwk, contextOf(kid)),
      signs_from: signsFrom,
      created_at: clock.now(),
    });
    return kid;
  }

  /** From when on nothing valid can have been signed with this key: once its successor has signed long enough. */
  function retiredAt(all: readonly { signsFrom: Date }[], index: number): number {
    const successor = all[index + 1];
    return successor
      ? successor.signsFrom.getTime() + TOKEN_LIFETIME_SECONDS * 1_000
      : Number.POSITIVE_INFINITY;
  }

  async function published(olderThanMs?: number): Promise<readonly SigningKey[]> {
    const all = await keys(olderThanMs);
    const now = clock.now().getTime();
    return all.filter((_key, index) => retiredAt(all, index) > now);
  }

  return {
    async current(): Promise<SigningKey> {
      const all = await keys();
      const now = clock.now().getTime();
      // The very first key signs even where the clock is a little behind that of the node that made it.
      const signing = all.findLast((key) => key.signsFrom.getTime() <= now) ?? all[0];
      if (!signing) throw new Error('there is no signing key');
      return signing;
    },

    async find(kid: string): Promise<SigningKey | undefined> {
      const byId = (key: SigningKey) => key.kid === kid;
      return (await published()).find(byId) ?? (await published(RELOAD_FOR_UNKNOWN_AFTER_MS)).find(byId);
    },

    async jwks(): Promise<{ keys: JWK[] }> {
      return { keys: (await published()).map((key) => key.publicJwk) };
    },

    /** Publishes a new key now; it signs in ten minutes. One rotation at a time. */
    async rotate(actor: Actor): Promise<{ kid: string; signsFrom: Date } | Failure> {
      await keys();
      const rotated = await database.transaction(async (transaction) => {
        await store.lockSigningKeys(transaction);
        const newest = (await store.selectSigningKeys(transaction)).at(-1);
        const now = clock.now();
        if (newest && newest.signs_from > now)
          return new Failure(
            'rotation_pending',
            `Key ${newest.kid} is already published and signs from ${newest.signs_from.toISOString()}`,
          );
        const signsFrom = new Date(now.getTime() + PUBLISHED_AHEAD_MS);
        const kid = await create(transaction, signsFrom);
        const changes = { signs_from: signsFrom.toISOString() };
        await audit.record(transaction, actor, {
          action: 'signing_key.rotate',
          objectType: 'signing_key',
          objectId: kid,
          changes,
        });
        return { kid, signsFrom };
      });
      loaded = undefined;
      return rotated;
    },

    /** Moves the stored keys under the current master key; gives how many had to move. */
    async reencrypt(transaction: Transaction): Promise<number> {
      const rows = await store.selectSigningKeys(transaction);
      let moved = 0;
      for (const row of rows) {
        const encrypted = encryption.reencrypt(row.private_jwk_encrypted, contextOf(row.kid));
        if (!encrypted) continue;
        await store.updatePrivateKey(transaction, row.kid, encrypted);
        moved += 1;
      }
      return moved;
    },

    /** Forgets keys that nothing valid was signed with. */
    async sweep(): Promise<void> {
      const rows = await store.selectSigningKeys(database.queries);
      const all = rows.map((row) => ({ kid: row.kid, signsFrom: row.signs_from }));
      const now = clock.now().getTime();
      const retired = all.filter((_key, index) => retiredAt(all, index) <= now).map((key) => key.kid);
      if (retired.length > 0) await store.deleteSigningKeys(database.queries, retired);
    },
  };
}

function contextOf(kid: string): string {
  return `signing_key:${kid}`;
}
