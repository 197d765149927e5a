import type { AuthenticationResponseJSON } from '@simplewebauthn/server';
import type { Database } from '../../infrastructure/database/database.ts';
import type { EnvironmentName } from '../../infrastructure/database/tables.ts';
import { networkOf } from '../../infrastructure/rate-limits/address.ts';
import { Failure, isFailure } from '../../infrastructure/runtime/failure.ts';
import { NIL_GUID } from '../../infrastructure/runtime/guid.ts';
import type { Metrics } from '../../infrastructure/runtime/metrics.ts';
import type { Issuer, TokenResponse } from '../../tokens/issuing/issuer.ts';
import { type Role, scopesOfRole } from '../../tokens/roles.ts';
import type { People, Person } from '../members/people.ts';
import type { Members } from '../members/service.ts';
import type { FailedAttempts } from './limits/failed-attempts.ts';
import type { LoginLimits } from './limits/limits.ts';
import type { Networks } from './limits/networks.ts';
import type { Login, Logins } from './logins.ts';
import type { Passkeys } from './passkeys/passkeys.ts';
import type { HashRequester, Passwords } from './passwords/passwords.ts';
import type { Proofs } from './proofs/proofs.ts';
import type { RequestSource } from './request-source.ts';
import type { Totp } from './second-factors/totp.ts';
import type { Session, Sessions, StartedSession } from './sessions/sessions.ts';

export type Authentication = ReturnType<typeof createAuthentication>;

type Deps = {
  database: Database;
  people: People;
  members: Members;
  logins: Logins;
  passwords: Passwords;
  totp: Totp;
  passkeys: Passkeys;
  sessions: Sessions;
  limits: LoginLimits;
  proofs: Proofs;
  networks: Networks;
  issuer: Issuer;
  metrics: Metrics;
  failedAttempts: FailedAttempts;
};
type Method = 'password' | 'passkey';

const LOGIN_PATHS = { password: '/dashboard/login', passkey: '/dashboard/passkey_login' };

/** Starts sessions by password or passkey, and issues user tokens for sessions. */
export function createAuthentication(deps: Deps) {
  const { database, people, members, logins, passwords, totp, passkeys, sessions, limits, issuer } = deps;
  const { proofs, networks, failedAttempts, metrics } = deps;

  function countRefused(method: Method, failure: Failure): Failure {
    metrics.logins.inc({ method, result: failure.code });
    return failure;
  }

  function recordFailed(
    method: Method,
    failure: Failure,
    source: RequestSource,
    memberGuid?: string,
  ): Failure {
    const attempt = { path: LOGIN_PATHS[method], source, memberGuid };
    return countRefused(method, failedAttempts.record(failure, attempt));
  }

  /** Passes if TOTP is off. */
  async function checkCode(login: Login, code: string | undefined): Promise<Failure | undefined> {
    if (!totp.isOn(login)) return undefined;
    if (code === undefined)
      return new Failure('totp_required', 'totp_code is required: a one-time password or a recovery code');
    const exhausted = await limits.code(login.member_guid);
    if (exhausted) return exhausted;
    const isValid = await totp.check(login, code);
    if (isFailure(isValid)) return isValid;
    if (isValid) return undefined;
    return new Failure('totp_invalid', 'The one-time password is incorrect or was already used');
  }

  async function isKnownNetwork(email: string, { address }: RequestSource): Promise<boolean> {
    const person = await people.findByEmail(email);
    return networks.isKnown(person?.guid ?? NIL_GUID, address);
  }

  async function requesterOf(memberGuid: string, { address }: RequestSource): Promise<HashRequester> {
    const isKnown = await networks.isKnown(memberGuid, address);
    return { class: isKnown ? 'known_network' : 'anyone', source: networkOf(address) };
  }

  return {
    checkCode,

    /** An unknown address, a missing password and a wrong password get the same answer after the same work. */
    async logIn(
      input: { email: string; password: string; totpCode: string | undefined },
      source: RequestSource,
    ): Promise<StartedSession | Failure> {
      const exhausted = await limits.password(input.email, source.address, () =>
        isKnownNetwork(input.email, source),
      );
      if (exhausted) return countRefused('password', exhausted);
      const person = await people.findByEmail(input.email);
      const memberGuid = person?.guid ?? NIL_GUID;
      const login = await logins.find(memberGuid);
      const requester = await requesterOf(memberGuid, source);
      const matches = await passwords.matches(requester, login?.password_hash, input.password);
      if (isFailure(matches)) return countRefused('password', matches);
      if (!matches || !person || !login)
        return recordFailed('password', authenticationFailed(), source, person?.guid);
      const wrongCode = await checkCode(login, input.totpCode);
      if (wrongCode?.code === 'totp_invalid') return recordFailed('password', wrongCode, source, memberGuid);
      if (wrongCode) return countRefused('password', wrongCode);
      const started = await database.authentication.transaction(async (transaction) => {
        const current = await logins.lockForShare(transaction, memberGuid);
        // The password changed after the comparison: the old one must no longer start a session.
        if (current?.password_hash !== login.password_hash) return authenticationFailed();
        return sessions.start(transaction, memberGuid, source, { secondFactor: totp.isOn(login) });
      });
      if (isFailure(started)) return recordFailed('password', started, source, memberGuid);
      metrics.logins.inc({ method: 'password', result: 'completed' });
      return started;
    },

    async passkeyOptions({ address }: RequestSource) {
      return (await limits.address(address)) ?? passkeys.loginOptions();
    },

    async logInWithPasskey(
      { challengeGuid, response }: { challengeGuid: string; response: AuthenticationResponseJSON },
      source: RequestSource,
    ): Promise<StartedSession | Failure> {
      const exhausted = await limits.address(source.address);
      if (exhausted) return countRefused('passkey', exhausted);
      const proof = await passkeys.verify(challengeGuid, response);
      if (!proof) return recordFailed('passkey', passkeyFailed(), source);
      const { memberGuid } = proof;
      const started = await database.authentication.transaction(async (transaction) =>
        (await proof.use(transaction))
          ? sessions.start(transaction, memberGuid, source, { secondFactor: true })
          : passkeyFailed(),
      );
      if (isFailure(started)) return recordFailed('passkey', started, source, memberGuid);
      metrics.logins.inc({ method: 'passkey', result: 'completed' });
      return started;
    },

    async describe(session: Session) {
      const { member_guid: memberGuid } = session;
      const [person, login, keys, organizations, { secondFactor }] = await Promise.all([
        people.find(memberGuid),
        logins.find(memberGuid),
        passkeys.list(memberGuid),
        members.organizationsOf(memberGuid),
        proofs.strengthOf(session),
      ]);
      return {
        person: person as Person,
        hasTotp: totp.isOn(login),
        passkeyCount: keys.length,
        secondFactor,
        organizations,
      };
    },

    /** The token is for one Organization and one environment, and is revoked with the session or the membership. */
    async issueToken(
      session: Session,
      { organizationGuid, environment }: { organizationGuid: string; environment: EnvironmentName },
    ): Promise<(TokenResponse & { role: Role }) | Failure> {
      const grant = await members.grantOf(organizationGuid, session.member_guid);
      if (isFailure(grant)) return grant;
      const { role, grantGuid } = grant;
      const issued = await issuer.issue({
        tokenType: 'user',
        subject: session.member_guid,
        organizationGuid,
        environment,
        sessionGuid: session.guid,
        grantGuid,
        role,
        ...(await proofs.strengthOf(session)),
        scopes: scopesOfRole(role),
      });
      return { ...issued, role };
    },
  };
}

function authenticationFailed(message = 'The email address or password is incorrect'): Failure {
  return new Failure('authentication_failed', message);
}

function passkeyFailed(): Failure {
  return authenticationFailed('This passkey is not registered, or its signature is invalid');
}
