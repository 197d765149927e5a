import type { AuthenticationResponseJSON } from '@simplewebauthn/server';
import type { Database } from '../database/database.ts';
import type { Clock } from '../runtime/clock.ts';
import { Failure, isFailure } from '../runtime/failure.ts';
import { actorOf, type From } from './entry.ts';
import type { LoginLimits } from './limits.ts';
import { type Login, selectLogin } from './login-store.ts';
import type { Passkeys } from './passkeys.ts';
import type { Passwords } from './passwords.ts';
import type { Session, Sessions } from './sessions.ts';
import type { Totp } from './totp.ts';

export type Proofs = ReturnType<typeof createProofs>;

/** So long a session may change how its person logs in; then they prove once more who they are. */
const PROOF_LIFETIME_MS = 5 * 60_000;

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
  const { queries } = database;

  /** The login whose password it is: whoever acts on that later compares its hash with the one there is then. */
  async function checkPassword(memberGuid: string, password: string): Promise<Login | Failure> {
    const exhausted = await limits.account(memberGuid);
    if (exhausted) return exhausted;
    const login = await selectLogin(queries, memberGuid);
    const matches = await passwords.matches(login?.password_hash, password);
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

  function keep(session: Session, from: From): Promise<void> {
    return database.transaction((transaction) =>
      sessions.prove(transaction, actorOf(session.member_guid, from), session),
    );
  }

  return {
    checkPassword,

    /** Undefined while the last proof counts; a login is one. */
    refusalWithout({ proved_at: provedAt }: Session): Failure | undefined {
      if (provedAt !== null && clock.now().getTime() - provedAt.getTime() < PROOF_LIFETIME_MS)
        return undefined;
      return new Failure(
        'proof_required',
        'Prove first that it is you: by password, passkey or one-time password',
      );
    },

    /** Not for who has a second factor: a passkey that the password alone could add would log in without it. */
    async byPassword(session: Session, password: string, from: From): Promise<Failure | undefined> {
      if (totp.isOn(await selectLogin(queries, session.member_guid)))
        return new Failure('proof_required', 'Prove it by a one-time password, a recovery code or a passkey');
      const checked = await checkPassword(session.member_guid, password);
      if (isFailure(checked)) return checked;
      await keep(session, from);
      return undefined;
    },

    async byCode(session: Session, code: string, from: From): Promise<Failure | undefined> {
      const refusal = await refusalOfCode(session.member_guid, code);
      if (!refusal) await keep(session, from);
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
      const outcome = await database.transaction(async (transaction) =>
        (await proof.use(transaction))
          ? sessions.prove(transaction, actorOf(memberGuid, from), session)
          : notYours(),
      );
      return isFailure(outcome) ? outcome : undefined;
    },
  };
}

export function passwordIncorrect(): Failure {
  return new Failure('password_incorrect', 'The current password is not right');
}

function notYours(): Failure {
  return new Failure('passkey_invalid', 'This is no passkey of yours, or what it signed is not valid');
}
