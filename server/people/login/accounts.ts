import type { Organizations } from '../../credentials/organizations/service.ts';
import type { Actor, Audit } from '../../infrastructure/audit/service.ts';
import type { Database, Transaction } from '../../infrastructure/database/database.ts';
import { Failure, isFailure } from '../../infrastructure/runtime/failure.ts';
import type { Revocations } from '../../tokens/revoking/revocations.ts';
import { accountChange } from '../account-change.ts';
import type { People, Person } from '../members/people.ts';
import type { Members } from '../members/service.ts';
import type { Authentication } from './authentication.ts';
import type { FailedAttempts } from './limits/failed-attempts.ts';
import type { LoginLimits } from './limits/limits.ts';
import type { LinkRow, Links } from './links/links.ts';
import type { Login, Logins } from './logins.ts';
import type { NewPasskey, Passkeys } from './passkeys/passkeys.ts';
import { checkPasswordStrength } from './passwords/password-rules.ts';
import { knownPerson, type Passwords } from './passwords/passwords.ts';
import { type Proofs, passwordIncorrect } from './proofs/proofs.ts';
import { type RequestSource, userActor } from './request-source.ts';
import type { Totp } from './second-factors/totp.ts';
import type { Session, Sessions, StartedSession } from './sessions/sessions.ts';

type Deps = {
  database: Database;
  audit: Audit;
  people: People;
  members: Members;
  organizations: Organizations;
  passwords: Passwords;
  totp: Totp;
  passkeys: Passkeys;
  sessions: Sessions;
  logins: Logins;
  links: Links;
  limits: LoginLimits;
  failedAttempts: FailedAttempts;
  authentication: Authentication;
  proofs: Proofs;
  revocations: Revocations;
};

type NewPassword = {
  token: string;
  password: string;
  name: string | undefined;
  totpCode: string | undefined;
};

/** Changes to an account: name, password, second factors and invitations. */
export function createAccounts(deps: Deps) {
  const { database, audit, people, members, organizations, failedAttempts, authentication } = deps;
  const { passwords, totp, passkeys, sessions, logins, links, limits, proofs, revocations } = deps;

  /** Refused if the password changed after `checked` was read. */
  function changeByPassword<Outcome>(
    session: Session,
    checked: Login,
    work: (transaction: Transaction) => Promise<Outcome>,
  ): Promise<Outcome | Failure> {
    return logins.changeInSession<Outcome>(session, async (transaction, login) =>
      login.password_hash === checked.password_hash ? work(transaction) : passwordIncorrect(),
    );
  }

  /** Ends every session except `except`, and withdraws the password reset links and an unconfirmed authenticator. */
  async function replacePassword(
    transaction: Transaction,
    actor: Actor,
    memberGuid: string,
    { hash, except }: { hash: string; except?: string },
  ): Promise<number | undefined> {
    await logins.update(transaction, memberGuid, { password_hash: hash });
    await logins.clearPendingTotp(transaction, memberGuid);
    await links.withdraw(transaction, memberGuid, null);
    await audit.record(transaction, actor, accountChange('account.set_password', memberGuid));
    return sessions.endOthers(transaction, memberGuid, except);
  }

  return {
    async inspectLink(token: string, source: RequestSource) {
      const exhausted = await limits.address(source.address);
      if (exhausted) return exhausted;
      const link = await links.inspect(token);
      if (isFailure(link)) return link;
      const { member_guid: guid, purpose, organization_guid: organizationGuid } = link;
      const [person, organization] = await Promise.all([
        people.find(guid),
        organizationGuid === null ? undefined : organizations.get(organizationGuid),
      ]);
      return {
        email: (person as Person).email,
        purpose,
        organizationName:
          organization === undefined || isFailure(organization) ? undefined : organization.name,
      };
    },

    /**
     * Sets the password by a link. An invitation sets only a first password, since the inviting member may hold its link.
     * A reset removes the passkeys: it may follow the theft of the account.
     */
    async setPassword(input: NewPassword, source: RequestSource): Promise<StartedSession | Failure> {
      const exhausted = await limits.address(source.address);
      if (exhausted) return exhausted;
      const link = await links.inspect(input.token);
      if (isFailure(link)) return link;
      const { member_guid: guid } = link;
      const person = (await people.find(guid)) as Person;
      const login = await logins.find(guid);
      // The password is checked first: otherwise a weak one would reveal whether the address has an account, at no cost.
      const refusal =
        checkPasswordStrength(input.password, person.email) ??
        checkLinkUsable(link, login) ??
        (login && (await authentication.checkCode(login, input.totpCode)));
      if (refusal?.code === 'totp_invalid')
        return failedAttempts.record(refusal, { path: '/dashboard/password', source, memberGuid: guid });
      if (refusal) return refusal;
      const hash = await passwords.hash(knownPerson(guid), input.password);
      if (isFailure(hash)) return hash;
      const actor = userActor(guid, source);
      const started = await database.authentication.transaction(async (transaction) => {
        const notLocked = await members.lockInviting(transaction, link.organization_guid);
        if (notLocked) return notLocked;
        const current = await logins.lock(transaction, guid);
        const used = await links.use(transaction, input.token);
        if (isFailure(used)) return used;
        const refused = checkLinkUsable(used, current);
        if (refused) return refused;
        const { organization_guid: organizationGuid } = used;
        const notInvited =
          organizationGuid === null
            ? undefined
            : await members.accept(transaction, actor, { organizationGuid, memberGuid: guid });
        const moving = notInvited ?? (await members.checkMoving(transaction, guid));
        if (moving) return moving;
        await people.rename(transaction, actor, guid, input.name);
        if (used.purpose === 'password_reset') await passkeys.removeAll(transaction, actor, guid);
        const revision = await replacePassword(transaction, actor, guid, { hash });
        const strength = { secondFactor: totp.isOn(login) };
        return { revision, ...(await sessions.start(transaction, guid, source, strength)) };
      });
      if (isFailure(started)) return started;
      await revocations.propagate(started.revision);
      return started;
    },

    /** Removes the password, passkeys, sessions and reset links of a member. False if there was nothing to remove. */
    async lock(actor: Actor, memberGuid: string): Promise<boolean> {
      const { locked, revision } = await database.authentication.transaction(async (transaction) => {
        const login = await logins.lock(transaction, memberGuid);
        await logins.clearPendingTotp(transaction, memberGuid);
        await links.withdraw(transaction, memberGuid, null);
        const passkeyCount = await passkeys.removeAll(transaction, actor, memberGuid);
        const ended = await sessions.endOthers(transaction, memberGuid);
        if (!hasPassword(login) && passkeyCount === 0 && ended === undefined)
          return { locked: false, revision: ended };
        await logins.update(transaction, memberGuid, { password_hash: null });
        await audit.record(transaction, actor, accountChange('account.lock', memberGuid));
        return { locked: true, revision: ended };
      });
      await revocations.propagate(revision);
      return locked;
    },

    async acceptInvitation(
      session: Session,
      token: string,
      source: RequestSource,
    ): Promise<Failure | undefined> {
      const exhausted = await limits.address(source.address);
      if (exhausted) return exhausted;
      const { member_guid: memberGuid } = session;
      const link = await links.inspect(token);
      if (isFailure(link)) return link;
      const { organization_guid: organizationGuid } = link;
      if (link.member_guid !== memberGuid || organizationGuid === null)
        return new Failure('not_found', 'This link is not an invitation for your account');
      return database.transaction(async (transaction) => {
        const notLocked = await members.lockInviting(transaction, organizationGuid);
        if (notLocked) return notLocked;
        const used = await links.use(transaction, token);
        if (isFailure(used)) return used;
        return members.accept(transaction, userActor(memberGuid, source), { organizationGuid, memberGuid });
      });
    },

    async rename(memberGuid: string, name: string, source: RequestSource): Promise<Failure | undefined> {
      const exhausted = await limits.account(memberGuid);
      if (exhausted) return exhausted;
      return database.transaction(async (transaction) => {
        const moving = await members.checkMoving(transaction, memberGuid);
        if (moving) return moving;
        await people.rename(transaction, userActor(memberGuid, source), memberGuid, name);
        return undefined;
      });
    },

    async changePassword(
      session: Session,
      { currentPassword, newPassword }: { currentPassword: string; newPassword: string },
      source: RequestSource,
    ): Promise<Failure | undefined> {
      const { guid: sessionGuid, member_guid: memberGuid } = session;
      const unproved = await proofs.requireFreshSecondFactor(session);
      if (unproved) return unproved;
      const attempt = { path: '/dashboard/account/password', source };
      const checked = await proofs.checkPassword(memberGuid, currentPassword, attempt);
      if (isFailure(checked)) return checked;
      const { email } = (await people.find(memberGuid)) as Person;
      const weak = checkPasswordStrength(newPassword, email);
      if (weak) return weak;
      const hash = await passwords.hash(knownPerson(memberGuid), newPassword);
      if (isFailure(hash)) return hash;
      const revision = await changeByPassword(session, checked, (transaction) => {
        const actor = userActor(memberGuid, source);
        return replacePassword(transaction, actor, memberGuid, { hash, except: sessionGuid });
      });
      if (isFailure(revision)) return revision;
      await revocations.propagate(revision);
      return undefined;
    },

    async passkeyOptions(session: Session) {
      const { member_guid: memberGuid } = session;
      const refusal = (await proofs.requireFresh(session)) ?? (await limits.account(memberGuid));
      return refusal ?? passkeys.registrationOptions((await people.find(memberGuid)) as Person);
    },

    /** Checks the second factor again: the member may have got it since the options were created. */
    async addPasskey(session: Session, input: NewPasskey, source: RequestSource) {
      const refusal = await proofs.requireFreshSecondFactor(session);
      return refusal ?? passkeys.register(session, input, source);
    },

    async removePasskey(session: Session, guid: string, source: RequestSource): Promise<Failure | undefined> {
      const { member_guid: memberGuid } = session;
      const refusal = await proofs.requireFresh(session);
      return refusal ?? passkeys.remove(userActor(memberGuid, source), memberGuid, guid);
    },

    async beginTotp(session: Session, source: RequestSource) {
      const { member_guid: memberGuid } = session;
      const refusal = (await proofs.requireFresh(session)) ?? (await limits.account(memberGuid));
      if (refusal) return refusal;
      const person = (await people.find(memberGuid)) as Person;
      return logins.changeInSession(session, (transaction, login) =>
        totp.begin(transaction, userActor(memberGuid, source), login, person),
      );
    },

    /** Requires a fresh proof again: the member may have got another second factor since the setup began. */
    async confirmTotp(session: Session, code: string, source: RequestSource): Promise<string[] | Failure> {
      const { member_guid: memberGuid } = session;
      const refusal = (await proofs.requireFresh(session)) ?? (await limits.account(memberGuid));
      if (refusal) return refusal;
      const actor = userActor(memberGuid, source);
      return logins.changeInSession<string[]>(session, async (transaction, login) => {
        const codes = await totp.confirm(transaction, actor, login, code);
        if (!isFailure(codes))
          await sessions.recordProof(transaction, session, source, { secondFactor: true });
        return codes;
      });
    },

    /** Requires a second factor besides the password: while TOTP is on, the password alone is not a proof. */
    async turnOffTotp(
      session: Session,
      password: string,
      source: RequestSource,
    ): Promise<Failure | undefined> {
      const { member_guid: memberGuid } = session;
      const unproved = await proofs.requireFresh(session);
      if (unproved) return unproved;
      const attempt = { path: '/dashboard/account/totp', source };
      const checked = await proofs.checkPassword(memberGuid, password, attempt);
      if (isFailure(checked)) return checked;
      const outcome = await changeByPassword(session, checked, (transaction) =>
        totp.turnOff(transaction, userActor(memberGuid, source), memberGuid),
      );
      return isFailure(outcome) ? outcome : undefined;
    },
  };
}

function hasPassword(login: Login | undefined): boolean {
  return typeof login?.password_hash === 'string';
}

function checkLinkUsable({ purpose }: LinkRow, login: Login | undefined): Failure | undefined {
  if (purpose !== 'invitation' || !hasPassword(login)) return undefined;
  return new Failure(
    'account_exists',
    'This address already has an account. Log in to accept the invitation',
  );
}
