import { createPrivateKey, type KeyObject } from 'node:crypto';
import { type CryptoKey, exportJWK, generateKeyPair, importJWK, type JWK } from 'jose';
import type { Actor, Audit } from '../../infrastructure/audit/service.ts';
import type { Database, Transaction } from '../../infrastructure/database/database.ts';
import { type RecordAnswer, recordNothing } from '../../infrastructure/idempotency/record-answer.ts';
import { type Clock, hasPassed } from '../../infrastructure/runtime/clock.ts';
import type { Encryption } from '../../infrastructure/runtime/encryption.ts';
import { Failure } from '../../infrastructure/runtime/failure.ts';
import type { Guids } from '../../infrastructure/runtime/guid.ts';
import type { Log } from '../../infrastructure/runtime/log.ts';
import { EXPIRED_KEPT_MS, TOKEN_LIFETIME_SECONDS } from '../claims.ts';
import * as store from './signing-key-store.ts';

/**
 * Signing keys of tokens, encrypted in the database. A new key is published before its `signs_from`, so that every node and
 * verifier has loaded it; an old key stays published until its last token has expired.
 */
export type SigningKeys = ReturnType<typeof createSigningKeys>;
export type SigningKey = {
  kid: string;
  signsFrom: Date;
  publicJwk: JWK;
  publicKey: CryptoKey;
  privateKey: KeyObject;
};

export const ALGORITHM = 'ES256';
/** Cache time of verifiers. Must stay well below PUBLISHED_AHEAD_MS. */
export const JWKS_MAX_AGE_SECONDS = 300;
const PUBLISHED_AHEAD_MS = 600_000;
/** Reload interval; an unknown key id reloads earlier, at most at the second interval. */
const RELOAD_AFTER_MS = 60_000;
const RELOAD_FOR_UNKNOWN_AFTER_MS = 5_000;

type Rotated = { kid: string; signsFrom: Date };

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

  function keys(olderThanMs = RELOAD_AFTER_MS): Promise<readonly SigningKey[]> {
    const now = clock.now().getTime();
    if (loaded === undefined || hasPassed(olderThanMs, loadedAt, now)) {
      const previous = loaded;
      loadedAt = now;
      loaded = load().catch((error: unknown) => {
        loaded = previous;
        if (!previous) throw error;
        log.warn({ err: error }, 'reloading the signing keys failed');
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
      privateKey: createPrivateKey({ key: privateJwk, format: 'jwk' }),
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

  /** Time at which the last token signed with this key has expired. */
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
      // The first key signs even if this node's clock is behind the clock of the node that created it.
      const signing = all.findLast((key) => key.signsFrom.getTime() <= now) ?? all[0];
      if (!signing) throw new Error('no signing key');
      return signing;
    },

    async find(kid: string): Promise<SigningKey | undefined> {
      const byId = (key: SigningKey) => key.kid === kid;
      return (await published()).find(byId) ?? (await published(RELOAD_FOR_UNKNOWN_AFTER_MS)).find(byId);
    },

    async jwks(): Promise<{ keys: JWK[] }> {
      return { keys: (await published()).map((key) => key.publicJwk) };
    },

    /** Publishes a new key, which signs from ten minutes later. One rotation at a time. */
    async rotate(
      actor: Actor,
      recordAnswer: RecordAnswer<Rotated> = recordNothing,
    ): Promise<Rotated | Failure> {
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
        const change = { objectType: 'signing_key', objectId: kid };
        const changes = { signs_from: signsFrom.toISOString() };
        await audit.record(transaction, actor, { ...change, action: 'signing_key.rotate', changes });
        await recordAnswer(transaction, { kid, signsFrom });
        return { kid, signsFrom };
      });
      loaded = undefined;
      return rotated;
    },

    /** Re-encrypts the keys with the current master key; returns the number of changed keys. */
    async reencrypt(transaction: Transaction): Promise<number> {
      const rows = await store.selectSigningKeys(transaction);
      let changed = 0;
      for (const row of rows) {
        const encrypted = encryption.reencrypt(row.private_jwk_encrypted, contextOf(row.kid));
        if (!encrypted) continue;
        await store.updatePrivateKey(transaction, row.kid, encrypted);
        changed += 1;
      }
      return changed;
    },

    /** Deletes retired keys. */
    async sweep(): Promise<void> {
      const rows = await store.selectSigningKeys(database.queries);
      const all = rows.map((row) => ({ kid: row.kid, signsFrom: row.signs_from }));
      const before = clock.now().getTime() - EXPIRED_KEPT_MS;
      const retired = all.filter((_key, index) => retiredAt(all, index) <= before).map((key) => key.kid);
      if (retired.length > 0) await store.deleteSigningKeys(database.queries, retired);
    },
  };
}

function contextOf(kid: string): string {
  return `signing_key:${kid}`;
}
