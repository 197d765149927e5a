import type { AuthenticationResponseJSON } from '@simplewebauthn/server';
import type { Actor } from '../../infrastructure/audit/service.ts';
import type { Database } from '../../infrastructure/database/database.ts';
import type { EnvironmentName } from '../../infrastructure/database/tables.ts';
import { networkOf } from '../../infrastructure/rate-limits/address.ts';
import { Failure, isFailure } from '../../infrastructure/runtime/failure.ts';
import { NIL_GUID } from '../../infrastructure/runtime/guid.ts';
import type { Metrics } from '../../infrastructure/runtime/metrics.ts';
import type { Secret } from '../../infrastructure/runtime/secret.ts';
import type { Issuer, TokenResponse } from '../../tokens/issuing/issuer.ts';
import { type Role, scopesOfRole } from '../../tokens/roles.ts';
import type { People, Person } from '../members/people.ts';
import type { Members } from '../members/service.ts';
import type { FailedAttempts } from './limits/failed-attempts.ts';
import type { LoginLimits } from './limits/limits.ts';
import type { Networks } from './limits/networks.ts';
import { type Login, selectLogin, selectLoginForShare } from './login-store.ts';
import type { Passkeys } from './passkeys/passkeys.ts';
import type { HashRequester, Passwords } from './passwords/passwords.ts';
import type { Proofs } from './second-factors/proofs.ts';
import type { Totp } from './second-factors/totp.ts';
import type { Session, Sessions, Visitor } from './sessions/sessions.ts';

export type Entry = ReturnType<typeof createEntry>;
export type Begun = { session: Session; secret: Secret };
/** A request without a session yet, or with one: what is recorded of it. */
export type From = Visitor & { requestId: string };

type Deps = {
  database: Database;
  people: People;
  members: Members;
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

/** The way in: from a proof of who somebody is to a session, and from a session to a user token. */
export function createEntry(deps: Deps) {
  const { database, people, members, passwords, totp, passkeys, sessions, limits, issuer, metrics } = deps;
  const { proofs, networks, failedAttempts } = deps;

  function refused(method: 'password' | 'passkey', failure: Failure): Failure {
    metrics.logins.inc({ method, result: failure.code });
    return failure;
  }

  /** As `refused`, and in the audit record: of the operator, and of the Organizations of a person who is known. */
  function failed(
    method: 'password' | 'passkey',
    failure: Failure,
    from: From,
    memberGuid?: string,
  ): Failure {
    const path = method === 'password' ? '/dashboard/login' : '/dashboard/passkey_login';
    return refused(method, failedAttempts.record(failure, { path, from, memberGuid }));
  }

  /** Undefined when there is no second factor, or it is right. */
  async function checkCode(login: Login, code: string | undefined): Promise<Failure | undefined> {
    if (!totp.isOn(login)) return undefined;
    if (code === undefined) return new Failure('totp_required', 'A one-time password is required too');
    const exhausted = await limits.code(login.member_guid);
    if (exhausted) return exhausted;
    if (await totp.check(login, code)) return undefined;
    return new Failure('totp_invalid', 'The one-time password is not valid, or was used before');
  }

  async function isNetworkOf(email: string, { address }: From): Promise<boolean> {
    const person = await people.findByEmail(email);
    return networks.isKnown(person?.guid ?? NIL_GUID, address);
  }

  async function requesterOf(memberGuid: string, { address }: From): Promise<HashRequester> {
    const isKnown = await networks.isKnown(memberGuid, address);
    return { class: isKnown ? 'known_network' : 'anyone', source: networkOf(address) };
  }

  return {
    checkCode,

    /** One answer, after the same work, whether the address is unknown, has no password yet or the password is wrong. */
    async logIn(
      input: { email: string; password: string; totpCode: string | undefined },
      from: From,
    ): Promise<Begun | Failure> {
      const exhausted = await limits.password(input.email, from.address, () =>
        isNetworkOf(input.email, from),
      );
      if (exhausted) return refused('password', exhausted);
      const person = await people.findByEmail(input.email);
      const memberGuid = person?.guid ?? NIL_GUID;
      const login = await selectLogin(database.authentication.queries, memberGuid);
      const requester = await requesterOf(memberGuid, from);
      const matches = await passwords.matches(requester, login?.password_hash, input.password);
      if (isFailure(matches)) return refused('password', matches);
      if (!matches || !person || !login)
        return failed('password', authenticationFailed(), from, person?.guid);
      const wrongCode = await checkCode(login, input.totpCode);
      if (wrongCode?.code === 'totp_invalid') return failed('password', wrongCode, from, person.guid);
      if (wrongCode) return refused('password', wrongCode);
      const begun = await database.authentication.transaction(async (transaction) => {
        const current = await selectLoginForShare(transaction, person.guid);
        // Changed since we compared: whoever changed it wants the old one to be of no use.
        if (current?.password_hash !== login.password_hash) return authenticationFailed();
        const strength = { secondFactor: totp.isOn(login) };
        return sessions.start(transaction, actorOf(person.guid, from), person.guid, from, strength);
      });
      if (isFailure(begun)) return failed('password', begun, from, person.guid);
      metrics.logins.inc({ method: 'password', result: 'completed' });
      return begun;
    },

    async passkeyOptions(from: From) {
      return (await limits.from(from.address)) ?? passkeys.loginOptions();
    },

    async logInWithPasskey(
      { challengeGuid, response }: { challengeGuid: string; response: AuthenticationResponseJSON },
      from: From,
    ): Promise<Begun | Failure> {
      const exhausted = await limits.from(from.address);
      if (exhausted) return refused('passkey', exhausted);
      const proof = await passkeys.prove(challengeGuid, response);
      if (!proof) return failed('passkey', passkeyFailed(), from);
      const { memberGuid } = proof;
      const begun = await database.authentication.transaction(async (transaction) =>
        (await proof.use(transaction))
          ? sessions.start(transaction, actorOf(memberGuid, from), memberGuid, from, { secondFactor: true })
          : passkeyFailed(),
      );
      if (isFailure(begun)) return failed('passkey', begun, from, memberGuid);
      metrics.logins.inc({ method: 'passkey', result: 'completed' });
      return begun;
    },

    /** What the dashboard shows of whoever is logged in. */
    async describe(session: Session) {
      const { member_guid: memberGuid } = session;
      const [person, login, keys, organizations, { secondFactor }] = await Promise.all([
        people.find(memberGuid),
        selectLogin(database.authentication.queries, memberGuid),
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

    /** For five minutes, one Organization and one environment; it dies with the session and with the membership. */
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

export function actorOf(memberGuid: string, { address, requestId }: From): Actor {
  return { type: 'user', id: memberGuid, address, requestId };
}

function authenticationFailed(message = 'The email address or the password is not right'): Failure {
  return new Failure('authentication_failed', message);
}

function passkeyFailed(): Failure {
  return authenticationFailed('The passkey is not known here, or what it signed is not valid');
}
