import type { AuthenticationResponseJSON } from '@simplewebauthn/server';
import type { Database } from '../../../infrastructure/database/database.ts';
import type { Clock } from '../../../infrastructure/runtime/clock.ts';
import { Failure, isFailure } from '../../../infrastructure/runtime/failure.ts';
import { isFreshProof } from '../../../tokens/verifying/proof.ts';
import { actorOf, type From } from '../entry.ts';
import type { FailedAttempts } from '../limits/failed-attempts.ts';
import type { LoginLimits } from '../limits/limits.ts';
import { type Login, selectLogin } from '../login-store.ts';
import type { Passkeys } from '../passkeys/passkeys.ts';
import { knownPerson, type Passwords } from '../passwords/passwords.ts';
import type { Session, Sessions } from '../sessions/sessions.ts';
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
  failedAttempts: FailedAttempts;
};
type SecondFactors = { totp: boolean; passkey: boolean };

const ENGLISH_CHOICE = new Intl.ListFormat('en-GB', { type: 'disjunction' });
const PROOF_PATH = '/dashboard/account/proof';

/**
 * Proofs of who is there, by somebody who is logged in: a cookie alone, stolen or left open, is not enough to add a way
 * in that outlives it.
 */
export function createProofs(deps: Deps) {
  const { database, clock, passwords, totp, passkeys, sessions, limits, failedAttempts } = deps;
  const { queries, transaction: transact } = database.authentication;

  /** The login whose password it is: a later change compares its hash with the one that is stored then. */
  async function checkPassword(
    memberGuid: string,
    password: string,
    attempt: { path: string; from: From },
  ): Promise<Login | Failure> {
    const exhausted = await limits.account(memberGuid);
    if (exhausted) return exhausted;
    const login = await selectLogin(queries, memberGuid);
    const matches = await passwords.matches(knownPerson(memberGuid), login?.password_hash, password);
    if (isFailure(matches)) return matches;
    if (matches && login) return login;
    return failedAttempts.record(passwordIncorrect(), { ...attempt, memberGuid });
  }

  async function checkCode(memberGuid: string, code: string, from: From): Promise<Failure | undefined> {
    const exhausted = await limits.proofCode(memberGuid);
    if (exhausted) return exhausted;
    const login = await selectLogin(queries, memberGuid);
    if (login && totp.isOn(login) && (await totp.check(login, code))) return undefined;
    const incorrect = new Failure(
      'code_incorrect',
      'The code is not the one that is shown now, or was used before',
    );
    return failedAttempts.record(incorrect, { path: `${PROOF_PATH}/totp`, from, memberGuid });
  }

  function keep(session: Session, from: From, strength: { secondFactor: boolean }): Promise<void> {
    return transact((transaction) =>
      sessions.prove(transaction, actorOf(session.member_guid, from), session, strength),
    );
  }

  async function secondFactorsOf({ member_guid: memberGuid }: Session): Promise<SecondFactors> {
    const [login, keys] = await Promise.all([selectLogin(queries, memberGuid), passkeys.list(memberGuid)]);
    return { totp: totp.isOn(login), passkey: keys.length > 0 };
  }

  /** While a person has a second factor, a proof without one does not count, nor does one from before they had it. */
  function provedAt(session: Session, factors: SecondFactors): Date | undefined {
    return (hasAny(factors) ? session.second_factor_at : session.proved_at) ?? undefined;
  }

  return {
    checkPassword,

    /** The claims of a user token. A second factor that was given counts only while the person still has one. */
    async strengthOf(session: Session): Promise<{ provedAt: Date | undefined; secondFactor: boolean }> {
      const factors = await secondFactorsOf(session);
      return {
        provedAt: provedAt(session, factors),
        secondFactor: hasAny(factors) && session.second_factor_at !== null,
      };
    },

    /** Undefined while the last proof counts; a login is one. */
    async requireFresh(session: Session): Promise<Failure | undefined> {
      const factors = await secondFactorsOf(session);
      return isFreshProof(provedAt(session, factors), clock.now()) ? undefined : proofRequired(factors);
    },

    /** Of the second factor alone, for a change that takes the password besides. */
    async requireFreshSecondFactor(session: Session): Promise<Failure | undefined> {
      const factors = await secondFactorsOf(session);
      if (!hasAny(factors) || isFreshProof(session.second_factor_at, clock.now())) return undefined;
      return proofRequired(factors);
    },

    /** Refused for a person with a second factor: with the password alone a thief could add another one. */
    async byPassword(session: Session, password: string, from: From): Promise<Failure | undefined> {
      const factors = await secondFactorsOf(session);
      if (hasAny(factors)) return proofRequired(factors);
      const attempt = { path: `${PROOF_PATH}/password`, from };
      const checked = await checkPassword(session.member_guid, password, attempt);
      if (isFailure(checked)) return checked;
      await keep(session, from, { secondFactor: false });
      return undefined;
    },

    async byCode(session: Session, code: string, from: From): Promise<Failure | undefined> {
      const refusal = await checkCode(session.member_guid, code, from);
      if (!refusal) await keep(session, from, { secondFactor: true });
      return refusal;
    },

    async byPasskey(
      session: Session,
      { challengeGuid, response }: { challengeGuid: string; response: AuthenticationResponseJSON },
      from: From,
    ): Promise<Failure | undefined> {
      const { member_guid: memberGuid } = session;
      const failed = () =>
        failedAttempts.record(notYours(), { path: `${PROOF_PATH}/passkey`, from, memberGuid });
      const exhausted = await limits.account(memberGuid);
      if (exhausted) return exhausted;
      const proof = await passkeys.prove(challengeGuid, response);
      if (proof?.memberGuid !== memberGuid) return failed();
      const outcome = await transact(async (transaction) =>
        (await proof.use(transaction))
          ? sessions.prove(transaction, actorOf(memberGuid, from), session, { secondFactor: true })
          : failed(),
      );
      return isFailure(outcome) ? outcome : undefined;
    },
  };
}

function hasAny({ totp, passkey }: SecondFactors): boolean {
  return totp || passkey;
}

/** Names what counts for this person. */
function proofRequired({ totp, passkey }: SecondFactors): Failure {
  const ways = [
    ...(totp ? ['a one-time password', 'a recovery code'] : []),
    ...(passkey ? ['a passkey'] : []),
    ...(totp || passkey ? [] : ['your password']),
  ];
  return new Failure('proof_required', `Prove first that it is you, by ${ENGLISH_CHOICE.format(ways)}`);
}

export function passwordIncorrect(): Failure {
  return new Failure('password_incorrect', 'The current password is not right');
}

function notYours(): Failure {
  return new Failure('passkey_invalid', 'This is no passkey of yours, or what it signed is not valid');
}
