import type { AuthenticationResponseJSON } from '@simplewebauthn/server';
import type { Database } from '../database/database.ts';
import type { Clock } from '../runtime/clock.ts';
import { Failure, isFailure } from '../runtime/failure.ts';
import { isFreshProof } from '../tokens/proof.ts';
import { actorOf, type From } from './entry.ts';
import type { LoginLimits } from './limits.ts';
import { type Login, selectLogin } from './login-store.ts';
import type { Passkeys } from './passkeys.ts';
import { knownPerson, type Passwords } from './passwords.ts';
import type { Session, Sessions } from './sessions.ts';
import type { Totp } from './totp.ts';

export type Proofs = ReturnType<typeof createProofs>;

type Deps = {
  database: Database;
  clock: Clock;
  passwords: Passwords;
  totp: Totp;
  passkeys: Passkeys;
  sessions: Sessions;
  limits: LoginLimits;
};

/**
 * Proofs of who is there, by somebody who is logged in: a cookie alone, stolen or left open, is not enough to add a way
 * in that outlives it.
 */
export function createProofs({ database, clock, passwords, totp, passkeys, sessions, limits }: Deps) {
  const { queries, transaction: transact } = database.authentication;

  /** The login whose password it is: whoever acts on that later compares its hash with the one there is then. */
  async function checkPassword(memberGuid: string, password: string): Promise<Login | Failure> {
    const exhausted = await limits.account(memberGuid);
    if (exhausted) return exhausted;
    const login = await selectLogin(queries, memberGuid);
    const matches = await passwords.matches(knownPerson(memberGuid), login?.password_hash, password);
    if (isFailure(matches)) return matches;
    return matches && login ? login : passwordIncorrect();
  }

  async function refusalOfCode(memberGuid: string, code: string): Promise<Failure | undefined> {
    const exhausted = await limits.proofCode(memberGuid);
    if (exhausted) return exhausted;
    const login = await selectLogin(queries, memberGuid);
    if (login && totp.isOn(login) && (await totp.check(login, code))) return undefined;
    return new Failure('code_incorrect', 'The code is not the one that is shown now, or was used before');
  }

  function keep(session: Session, from: From, strength: { secondFactor: boolean }): Promise<void> {
    return transact((transaction) =>
      sessions.prove(transaction, actorOf(session.member_guid, from), session, strength),
    );
  }

  /** While one-time passwords are on, a proof without a second factor counts for nothing, also one from before. */
  function provedAt(session: Session, login: Login | undefined): Date | undefined {
    return (totp.isOn(login) ? session.second_factor_at : session.proved_at) ?? undefined;
  }

  return {
    checkPassword,

    /**
     * What a user token says of its session. A second factor counts only while the person has one: who removes their
     * last one is as good as without.
     */
    async strengthOf(session: Session): Promise<{ provedAt: Date | undefined; secondFactor: boolean }> {
      const [login, keys] = await Promise.all([
        selectLogin(queries, session.member_guid),
        passkeys.list(session.member_guid),
      ]);
      const hasSecondFactor = totp.isOn(login) || keys.length > 0;
      return {
        provedAt: provedAt(session, login),
        secondFactor: hasSecondFactor && session.second_factor_at !== null,
      };
    },

    /** Undefined while the last proof counts; a login is one. */
    async refusalWithout(session: Session): Promise<Failure | undefined> {
      const login = await selectLogin(queries, session.member_guid);
      return isFreshProof(provedAt(session, login), clock.now()) ? undefined : proofRequired();
    },

    /** Of the second factor alone: for what takes the password besides. */
    async refusalWithoutSecondFactor(session: Session): Promise<Failure | undefined> {
      if (!totp.isOn(await selectLogin(queries, session.member_guid))) return undefined;
      return isFreshProof(session.second_factor_at, clock.now()) ? undefined : proofRequired();
    },

    /** Not for who has a second factor: a passkey that the password alone could add would log in without it. */
    async byPassword(session: Session, password: string, from: From): Promise<Failure | undefined> {
      if (totp.isOn(await selectLogin(queries, session.member_guid)))
        return new Failure('proof_required', 'Prove it by a one-time password, a recovery code or a passkey');
      const checked = await checkPassword(session.member_guid, password);
      if (isFailure(checked)) return checked;
      await keep(session, from, { secondFactor: false });
      return undefined;
    },

    async byCode(session: Session, code: string, from: From): Promise<Failure | undefined> {
      const refusal = await refusalOfCode(session.member_guid, code);
      if (!refusal) await keep(session, from, { secondFactor: true });
      return refusal;
    },

    async byPasskey(
      session: Session,
      { challengeGuid, response }: { challengeGuid: string; response: AuthenticationResponseJSON },
      from: From,
    ): Promise<Failure | undefined> {
      const { member_guid: memberGuid } = session;
      const exhausted = await limits.account(memberGuid);
      if (exhausted) return exhausted;
      const proof = await passkeys.prove(challengeGuid, response);
      if (proof?.memberGuid !== memberGuid) return notYours();
      const outcome = await transact(async (transaction) =>
        (await proof.use(transaction))
          ? sessions.prove(transaction, actorOf(memberGuid, from), session, { secondFactor: true })
          : notYours(),
      );
      return isFailure(outcome) ? outcome : undefined;
    },
  };
}

function proofRequired(): Failure {
  return new Failure(
    'proof_required',
    'Prove first that it is you: by password, passkey or one-time password',
  );
}

export function passwordIncorrect(): Failure {
  return new Failure('password_incorrect', 'The current password is not right');
}

function notYours(): Failure {
  return new Failure('passkey_invalid', 'This is no passkey of yours, or what it signed is not valid');
}
