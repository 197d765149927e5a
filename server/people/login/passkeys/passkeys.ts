import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server';
import type { Actor, Audit } from '../../../infrastructure/audit/service.ts';
import type { Database, Transaction } from '../../../infrastructure/database/database.ts';
import type { Clock } from '../../../infrastructure/runtime/clock.ts';
import { Failure } from '../../../infrastructure/runtime/failure.ts';
import type { Guids, RandomBytes } from '../../../infrastructure/runtime/guid.ts';
import { accountChange } from '../../account-change.ts';
import type { Person } from '../../members/people.ts';
import type { Members } from '../../members/service.ts';
import type { Logins } from '../logins.ts';
import { hashSecret } from '../random-secret.ts';
import { type RequestSource, userActor } from '../request-source.ts';
import type { Session, Sessions } from '../sessions/sessions.ts';
import * as store from './passkey-store.ts';

export type { Passkey } from './passkey-store.ts';
export type Passkeys = ReturnType<typeof createPasskeys>;
/** Verified signature of a passkey. `use` stores the new counter; false if the passkey was removed or reused meanwhile. */
export type PasskeyProof = { memberGuid: string; use(transaction: Transaction): Promise<boolean> };
export type NewPasskey = { name: string; response: RegistrationResponseJSON };

const CHALLENGE_LIFETIME_MS = 5 * 60_000;
const CHALLENGE_BYTES = 32;
const MAX_PASSKEYS_PER_MEMBER = 10;
/** EdDSA, ES256, RS256. */
const COSE_ALGORITHMS = [-8, -7, -257];

/** Loaded on first use: the import is slow, and processes that only send webhooks never need it. */
const webAuthn = () => import('@simplewebauthn/server');

type Deps = {
  database: Database;
  clock: Clock;
  guids: Guids;
  audit: Audit;
  randomBytes: RandomBytes;
  logins: Logins;
  sessions: Sessions;
  members: Members;
  baseUrl: string;
};

/** WebAuthn passkeys. User verification is required on each use, so that a passkey counts as two factors. */
export function createPasskeys(deps: Deps) {
  const { database, clock, guids, audit, randomBytes, logins, sessions, members, baseUrl } = deps;
  const { queries } = database.authentication;
  const relyingParty = { expectedOrigin: baseUrl, expectedRPID: new URL(baseUrl).hostname };

  async function createChallenge(memberGuid: string | null) {
    const bytes = Uint8Array.from(randomBytes(CHALLENGE_BYTES));
    const guid = guids.next();
    const challenge_hash = hashSecret(Buffer.from(bytes).toString('base64url'));
    const expires_at = new Date(clock.now().getTime() + CHALLENGE_LIFETIME_MS);
    await store.insertChallenge(queries, { guid, challenge_hash, member_guid: memberGuid, expires_at });
    return { guid, bytes };
  }

  function recordRemoval(transaction: Transaction, actor: Actor, memberGuid: string, passkey: string) {
    return audit.record(transaction, actor, accountChange('account.remove_passkey', memberGuid, { passkey }));
  }

  return {
    async loginOptions() {
      const { guid, bytes } = await createChallenge(null);
      const { generateAuthenticationOptions } = await webAuthn();
      const options = await generateAuthenticationOptions({
        rpID: relyingParty.expectedRPID,
        challenge: bytes,
        timeout: CHALLENGE_LIFETIME_MS,
        userVerification: 'required',
      });
      return { ...options, challenge_id: guid };
    },

    /** Undefined for any error, so that the response does not reveal the cause. */
    async verify(
      challengeGuid: string,
      response: AuthenticationResponseJSON,
    ): Promise<PasskeyProof | undefined> {
      const now = clock.now();
      const challenge = await store.deleteChallenge(queries, { guid: challengeGuid }, now);
      const passkey = await store.selectPasskeyByCredential(queries, response.id);
      if (!challenge || !passkey) return undefined;
      const { counter: before } = passkey;
      const { verifyAuthenticationResponse } = await webAuthn();
      const verified = await verifyAuthenticationResponse({
        ...relyingParty,
        response,
        expectedChallenge: (text) => hashSecret(text).equals(challenge.challenge_hash),
        credential: {
          id: passkey.credential_id,
          publicKey: Uint8Array.from(passkey.public_key),
          counter: before,
        },
        requireUserVerification: true,
      }).catch(() => undefined);
      if (!verified?.verified) return undefined;
      const counter = verified.authenticationInfo.newCounter;
      return {
        memberGuid: passkey.member_guid,
        use: (transaction) => store.usePasskey(transaction, passkey.guid, { before, counter, now }),
      };
    },

    async registrationOptions({ guid, email, name }: Person) {
      const existing = await store.selectPasskeysOf(queries, guid);
      if (existing.length >= MAX_PASSKEYS_PER_MEMBER) return limitReached();
      const { generateRegistrationOptions } = await webAuthn();
      return generateRegistrationOptions({
        rpName: 'Portico',
        rpID: relyingParty.expectedRPID,
        userName: email,
        userDisplayName: name ?? email,
        userID: Uint8Array.from(Buffer.from(guid, 'hex')),
        challenge: (await createChallenge(guid)).bytes,
        timeout: CHALLENGE_LIFETIME_MS,
        attestationType: 'none',
        excludeCredentials: existing.map(({ credential_id: id, transports }) => ({ id, transports })),
        authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
        supportedAlgorithmIDs: COSE_ALGORITHMS,
      });
    },

    async register(
      session: Session,
      { name, response }: NewPasskey,
      source: RequestSource,
    ): Promise<store.Passkey | Failure> {
      const { member_guid: memberGuid } = session;
      const now = clock.now();
      const takeChallenge = async (text: string) =>
        (await store.deleteChallenge(queries, { memberGuid, challengeHash: hashSecret(text) }, now)) !==
        undefined;
      const { verifyRegistrationResponse } = await webAuthn();
      const verified = await verifyRegistrationResponse({
        ...relyingParty,
        response,
        expectedChallenge: takeChallenge,
        requireUserVerification: true,
        supportedAlgorithmIDs: COSE_ALGORITHMS,
      }).catch(() => undefined);
      if (!verified?.verified)
        return new Failure(
          'passkey_invalid',
          'The authenticator response is invalid or too old. Start again',
        );
      const { id, publicKey, counter, transports = [] } = verified.registrationInfo.credential;
      return logins.changeInSession<store.Passkey>(session, async (transaction) => {
        const { length } = await store.selectPasskeysOf(transaction, memberGuid);
        if (length >= MAX_PASSKEYS_PER_MEMBER) return limitReached();
        const passkey: store.Passkey = {
          guid: guids.next(),
          member_guid: memberGuid,
          credential_id: id,
          public_key: Buffer.from(publicKey),
          counter,
          transports: [...transports],
          name,
          created_at: now,
          last_used_at: null,
        };
        if (!(await store.insertPasskey(transaction, passkey)))
          return new Failure('passkey_invalid', 'This authenticator is already registered');
        await logins.clearPendingTotp(transaction, memberGuid);
        const change = accountChange('account.add_passkey', memberGuid, { passkey: passkey.guid, name });
        await audit.record(transaction, userActor(memberGuid, source), change);
        // The registration verified the member, so it counts as a proof.
        await sessions.recordProof(transaction, session, source, { secondFactor: true });
        return passkey;
      });
    },

    list: (memberGuid: string) => store.selectPasskeysOf(queries, memberGuid),

    remove(actor: Actor, memberGuid: string, guid: string): Promise<Failure | undefined> {
      return database.authentication.transaction(async (transaction) => {
        if (!(await store.deletePasskey(transaction, memberGuid, guid)))
          return new Failure('not_found', 'There is no such passkey');
        const moving = await members.checkMoving(transaction, memberGuid);
        if (moving) return moving;
        await recordRemoval(transaction, actor, memberGuid, guid);
        await members.raiseFactorRemoved(transaction, actor, memberGuid, 'passkey');
        return undefined;
      });
    },

    /** The login must be locked, so that no passkey is added meanwhile. */
    async removeAll(transaction: Transaction, actor: Actor, memberGuid: string): Promise<number> {
      const removed = await store.deletePasskeysOf(transaction, memberGuid);
      for (const guid of removed) await recordRemoval(transaction, actor, memberGuid, guid);
      if (removed.length > 0) await members.raiseFactorRemoved(transaction, actor, memberGuid, 'passkey');
      return removed.length;
    },

    sweep: () => store.deleteExpiredChallenges(database.queries, clock.now()),
  };
}

function limitReached(): Failure {
  return new Failure(
    'passkey_limit_reached',
    `Passkey limit reached (${MAX_PASSKEYS_PER_MEMBER}). Remove a passkey to add another`,
  );
}
