import type { AuthenticationResponseJSON } from '@simplewebauthn/server';
import type { Database } from '../../../infrastructure/database/database.ts';
import type { Clock } from '../../../infrastructure/runtime/clock.ts';
import { Failure, isFailure } from '../../../infrastructure/runtime/failure.ts';
import { isFreshProof } from '../../../tokens/claims.ts';
import type { Attempt, FailedAttempts } from '../limits/failed-attempts.ts';
import type { LoginLimits } from '../limits/limits.ts';
import type { Login, Logins } from '../logins.ts';
import type { Passkeys } from '../passkeys/passkeys.ts';
import { knownPerson, type Passwords } from '../passwords/passwords.ts';
import type { RequestSource } from '../request-source.ts';
import type { Totp } from '../second-factors/totp.ts';
import type { Session, Sessions } from '../sessions/sessions.ts';

export type Proofs = ReturnType<typeof createProofs>;

type Deps = {
  database: Database;
  clock: Clock;
  logins: Logins;
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

/** Proofs of identity in a session. A stolen cookie alone must not be enough to add a passkey or an authenticator. */
export function createProofs(deps: Deps) {
  const { database, clock, logins, passwords, totp, passkeys, sessions, limits, failedAttempts } = deps;
  const { transaction: transact } = database.authentication;

  /** Returns the login, so that a later change can detect that the password changed in between. */
  async function checkPassword(
    memberGuid: string,
    password: string,
    attempt: Attempt,
  ): Promise<Login | Failure> {
    const exhausted = await limits.account(memberGuid);
    if (exhausted) return exhausted;
    const login = await logins.find(memberGuid);
    const matches = await passwords.matches(knownPerson(memberGuid), login?.password_hash, password);
    if (isFailure(matches)) return matches;
    if (matches && login) return login;
    return failedAttempts.record(passwordIncorrect(), { ...attempt, memberGuid });
  }

  async function checkCode(
    memberGuid: string,
    code: string,
    source: RequestSource,
  ): Promise<Failure | undefined> {
    const exhausted = await limits.proofCode(memberGuid);
    if (exhausted) return exhausted;
    const login = await logins.find(memberGuid);
    const isValid = login && totp.isOn(login) && (await totp.check(login, code));
    if (isFailure(isValid)) return isValid;
    if (isValid) return undefined;
    const incorrect = new Failure('code_incorrect', 'The code is incorrect or was already used');
    return failedAttempts.record(incorrect, { path: `${PROOF_PATH}/totp`, source, memberGuid });
  }

  function record(
    session: Session,
    source: RequestSource,
    strength: { secondFactor: boolean },
  ): Promise<void> {
    return transact((transaction) => sessions.recordProof(transaction, session, source, strength));
  }

  async function secondFactorsOf({ member_guid: memberGuid }: Session): Promise<SecondFactors> {
    const [login, keys] = await Promise.all([logins.find(memberGuid), passkeys.list(memberGuid)]);
    return { totp: totp.isOn(login), passkey: keys.length > 0 };
  }

  /** A member with a second factor needs a proof that includes one. */
  function provedAt(session: Session, factors: SecondFactors): Date | undefined {
    return (hasAny(factors) ? session.second_factor_at : session.proved_at) ?? undefined;
  }

  return {
    checkPassword,

    /** Claims of a user token. A second factor counts only while the member still has one. */
    async strengthOf(session: Session): Promise<{ provedAt: Date | undefined; secondFactor: boolean }> {
      const factors = await secondFactorsOf(session);
      return {
        provedAt: provedAt(session, factors),
        secondFactor: hasAny(factors) && session.second_factor_at !== null,
      };
    },

    /** A login counts as a proof. */
    async requireFresh(session: Session): Promise<Failure | undefined> {
      const factors = await secondFactorsOf(session);
      return isFreshProof(provedAt(session, factors), clock.now()) ? undefined : proofRequired(factors);
    },

    /** For changes that require the current password too. */
    async requireFreshSecondFactor(session: Session): Promise<Failure | undefined> {
      const factors = await secondFactorsOf(session);
      if (!hasAny(factors) || isFreshProof(session.second_factor_at, clock.now())) return undefined;
      return proofRequired(factors);
    },

    /** Refused for a member with a second factor: a stolen password must not be enough to add another one. */
    async byPassword(
      session: Session,
      password: string,
      source: RequestSource,
    ): Promise<Failure | undefined> {
      const factors = await secondFactorsOf(session);
      if (hasAny(factors)) return proofRequired(factors);
      const attempt = { path: `${PROOF_PATH}/password`, source };
      const checked = await checkPassword(session.member_guid, password, attempt);
      if (isFailure(checked)) return checked;
      await record(session, source, { secondFactor: false });
      return undefined;
    },

    async byCode(session: Session, code: string, source: RequestSource): Promise<Failure | undefined> {
      const refusal = await checkCode(session.member_guid, code, source);
      if (!refusal) await record(session, source, { secondFactor: true });
      return refusal;
    },

    async byPasskey(
      session: Session,
      { challengeGuid, response }: { challengeGuid: string; response: AuthenticationResponseJSON },
      source: RequestSource,
    ): Promise<Failure | undefined> {
      const { member_guid: memberGuid } = session;
      const attempt = { path: `${PROOF_PATH}/passkey`, source, memberGuid };
      const failed = () => failedAttempts.record(passkeyInvalid(), attempt);
      const exhausted = await limits.account(memberGuid);
      if (exhausted) return exhausted;
      const proof = await passkeys.verify(challengeGuid, response);
      if (proof?.memberGuid !== memberGuid) return failed();
      const outcome = await transact(async (transaction) =>
        (await proof.use(transaction))
          ? sessions.recordProof(transaction, session, source, { secondFactor: true })
          : failed(),
      );
      return isFailure(outcome) ? outcome : undefined;
    },
  };
}

function hasAny({ totp, passkey }: SecondFactors): boolean {
  return totp || passkey;
}

/** Names the proofs that this member can give. */
function proofRequired({ totp, passkey }: SecondFactors): Failure {
  const methods = [
    ...(totp ? ['a one-time password', 'a recovery code'] : []),
    ...(passkey ? ['a passkey'] : []),
    ...(totp || passkey ? [] : ['your password']),
  ];
  return new Failure('proof_required', `Confirm that it is you with ${ENGLISH_CHOICE.format(methods)}`);
}

export function passwordIncorrect(): Failure {
  return new Failure('password_incorrect', 'The current password is incorrect');
}

function passkeyInvalid(): Failure {
  return new Failure(
    'passkey_invalid',
    'This passkey is not registered to your account, or its signature is invalid',
  );
}
