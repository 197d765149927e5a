import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server';
import type { Actor, Audit } from '../../../infrastructure/audit/service.ts';
import type { Database, Transaction } from '../../../infrastructure/database/database.ts';
import type { Clock } from '../../../infrastructure/runtime/clock.ts';
import { Failure, isFailure } from '../../../infrastructure/runtime/failure.ts';
import type { Guids, RandomBytes } from '../../../infrastructure/runtime/guid.ts';
import type { Person } from '../../members/people.ts';
import { hashOf } from '../links/one-time-secret.ts';
import type { OwnLogin } from '../own-login.ts';
import type { Session, Sessions } from '../sessions/sessions.ts';
import * as store from './passkey-store.ts';

export type { Passkey } from './passkey-store.ts';
export type Passkeys = ReturnType<typeof createPasskeys>;
/** An authenticator has signed our challenge: whose it is, and what remains to be written down. */
export type PasskeyProof = { memberGuid: string; use(transaction: Transaction): Promise<boolean> };

const CHALLENGE_LIFETIME_MS = 5 * 60_000;
const CHALLENGE_BYTES = 32;
const MAX_PASSKEYS_OF_MEMBER = 10;
/** EdDSA, ES256, RS256: what authenticators have. */
const COSE_ALGORITHMS = [-8, -7, -257];

/** When it is first needed: loading it takes longer than most of a start, and a process that only sends never does. */
const webAuthn = () => import('@simplewebauthn/server');

type Deps = {
  database: Database;
  clock: Clock;
  guids: Guids;
  audit: Audit;
  randomBytes: RandomBytes;
  ownLogin: OwnLogin;
  sessions: Sessions;
  baseUrl: string;
};

/**
 * WebAuthn. A passkey is two factors in one, so each use asks the authenticator to verify its person, and it is
 * bound to our address: one that was lured to another page signs nothing that is good here.
 */
export function createPasskeys(deps: Deps) {
  const { database, clock, guids, audit, randomBytes, ownLogin, sessions, baseUrl } = deps;
  const { queries } = database.authentication;
  const relyingParty = { expectedOrigin: baseUrl, expectedRPID: new URL(baseUrl).hostname };

  async function challenge(memberGuid: string | null) {
    const bytes = Uint8Array.from(randomBytes(CHALLENGE_BYTES));
    const guid = guids.next();
    const challenge_hash = hashOf(Buffer.from(bytes).toString('base64url'));
    const expires_at = new Date(clock.now().getTime() + CHALLENGE_LIFETIME_MS);
    await store.insertChallenge(queries, { guid, challenge_hash, member_guid: memberGuid, expires_at });
    return { guid, bytes };
  }

  return {
    async loginOptions() {
      const { guid, bytes } = await challenge(null);
      const { generateAuthenticationOptions } = await webAuthn();
      const options = await generateAuthenticationOptions({
        rpID: relyingParty.expectedRPID,
        challenge: bytes,
        timeout: CHALLENGE_LIFETIME_MS,
        userVerification: 'required',
      });
      return { ...options, challenge_id: guid };
    },

    /** Undefined whatever is wrong: who guesses learns nothing from the difference. */
    async prove(
      challengeGuid: string,
      response: AuthenticationResponseJSON,
    ): Promise<PasskeyProof | undefined> {
      const now = clock.now();
      const asked = await store.deleteChallenge(queries, { guid: challengeGuid }, now);
      const passkey = await store.selectPasskeyByCredential(queries, response.id);
      if (!asked || !passkey) return undefined;
      const { counter: before } = passkey;
      const { verifyAuthenticationResponse } = await webAuthn();
      const verified = await verifyAuthenticationResponse({
        ...relyingParty,
        response,
        expectedChallenge: (text) => hashOf(text).equals(asked.challenge_hash),
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
      if (existing.length >= MAX_PASSKEYS_OF_MEMBER) return tooMany();
      const { generateRegistrationOptions } = await webAuthn();
      return generateRegistrationOptions({
        rpName: 'Portico',
        rpID: relyingParty.expectedRPID,
        userName: email,
        userDisplayName: name ?? email,
        userID: Uint8Array.from(Buffer.from(guid, 'hex')),
        challenge: (await challenge(guid)).bytes,
        timeout: CHALLENGE_LIFETIME_MS,
        attestationType: 'none',
        excludeCredentials: existing.map(({ credential_id: id, transports }) => ({ id, transports })),
        authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
        supportedAlgorithmIDs: COSE_ALGORITHMS,
      });
    },

    async register(
      actor: Actor,
      session: Session,
      name: string,
      response: RegistrationResponseJSON,
    ): Promise<store.Passkey | Failure> {
      const { member_guid: memberGuid } = session;
      const now = clock.now();
      const takeChallenge = async (text: string) =>
        (await store.deleteChallenge(queries, { memberGuid, challengeHash: hashOf(text) }, now)) !==
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
        return new Failure('passkey_invalid', 'The authenticator’s answer is not valid');
      const { id, publicKey, counter, transports = [] } = verified.registrationInfo.credential;
      return ownLogin.change<store.Passkey>(session, async (transaction) => {
        const { length } = await store.selectPasskeysOf(transaction, memberGuid);
        if (length >= MAX_PASSKEYS_OF_MEMBER) return tooMany();
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
          return new Failure('passkey_invalid', 'This authenticator is registered already');
        await audit.record(transaction, actor, about('account.add_passkey', memberGuid, passkey));
        // The authenticator has just verified its person.
        await sessions.prove(transaction, actor, session, { secondFactor: true });
        return passkey;
      });
    },

    list: (memberGuid: string) => store.selectPasskeysOf(queries, memberGuid),

    async remove(actor: Actor, memberGuid: string, guid: string): Promise<Failure | undefined> {
      const outcome = await database.authentication.transaction(async (transaction) => {
        if (!(await store.deletePasskey(transaction, memberGuid, guid)))
          return new Failure('not_found', 'There is no such passkey');
        await audit.record(transaction, actor, about('account.remove_passkey', memberGuid, { guid }));
        return undefined;
      });
      return isFailure(outcome) ? outcome : undefined;
    },

    /** With the login locked, as adding one does. */
    async removeAll(transaction: Transaction, actor: Actor, memberGuid: string): Promise<number> {
      const removed = await store.deletePasskeysOf(transaction, memberGuid);
      for (const guid of removed)
        await audit.record(transaction, actor, about('account.remove_passkey', memberGuid, { guid }));
      return removed.length;
    },

    sweep: () => store.deleteExpiredChallenges(database.queries, clock.now()),
  };
}

function tooMany(): Failure {
  return new Failure(
    'passkey_limit_reached',
    `A person has at most ${MAX_PASSKEYS_OF_MEMBER} passkeys; remove one first`,
  );
}

function about(
  action: `account.${string}`,
  memberGuid: string,
  { guid, name }: { guid: string; name?: string },
) {
  const changes = { passkey: guid, ...(name === undefined ? {} : { name }) };
  return { action, objectType: 'account', objectId: memberGuid, changes };
}
