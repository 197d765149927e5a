import type { Organizations } from '../../credentials/organizations/service.ts';
import type { Actor, Audit } from '../../infrastructure/audit/service.ts';
import type { Database, Transaction } from '../../infrastructure/database/database.ts';
import type { Clock } from '../../infrastructure/runtime/clock.ts';
import { Failure, isFailure } from '../../infrastructure/runtime/failure.ts';
import type { Revocations } from '../../tokens/revoking/revocations.ts';
import type { People, Person } from '../members/people.ts';
import type { Members } from '../members/service.ts';
import { actorOf, type Begun, type Entry, type From } from './entry.ts';
import type { FailedAttempts } from './limits/failed-attempts.ts';
import type { LoginLimits } from './limits/limits.ts';
import type { LinkRow, Links } from './links/links.ts';
import { type Login, lockLogin, selectLogin, updateLogin } from './login-store.ts';
import type { OwnLogin } from './own-login.ts';
import type { Passkeys } from './passkeys/passkeys.ts';
import { checkPasswordStrength } from './passwords/password-rules.ts';
import { knownPerson, type Passwords } from './passwords/passwords.ts';
import { type Proofs, passwordIncorrect } from './second-factors/proofs.ts';
import type { Totp } from './second-factors/totp.ts';
import type { Session, Sessions } from './sessions/sessions.ts';

type Deps = {
  database: Database;
  clock: Clock;
  audit: Audit;
  people: People;
  members: Members;
  organizations: Organizations;
  passwords: Passwords;
  totp: Totp;
  passkeys: Passkeys;
  sessions: Sessions;
  ownLogin: OwnLogin;
  links: Links;
  limits: LoginLimits;
  failedAttempts: FailedAttempts;
  entry: Entry;
  proofs: Proofs;
  revocations: Revocations;
};

type NewPassword = {
  token: string;
  password: string;
  name: string | undefined;
  totpCode: string | undefined;
};

/** What people change about how they log in. */
export function createAccounts(deps: Deps) {
  const { database, clock, audit, people, members, organizations, failedAttempts } = deps;
  const { passwords, totp, passkeys, sessions, ownLogin, links, limits, entry, proofs, revocations } = deps;
  const { queries } = database.authentication;

  async function settle(revision: number | undefined): Promise<void> {
    if (revision !== undefined) await revocations.propagate(revision);
  }

  /** With one's password as it is when the change is made: it may be another one since `checked` was read. */
  function changeByPassword<Outcome>(
    session: Session,
    checked: Login,
    work: (transaction: Transaction) => Promise<Outcome>,
  ): Promise<Outcome | Failure> {
    return ownLogin.change<Outcome>(session, async (transaction, login) =>
      login.password_hash === checked.password_hash ? work(transaction) : passwordIncorrect(),
    );
  }

  /** Every session but `except` ends with the old password, and so do the links to set one. */
  async function replacePassword(
    transaction: Transaction,
    actor: Actor,
    memberGuid: string,
    { hash, except }: { hash: string; except?: string },
  ): Promise<number | undefined> {
    await updateLogin(transaction, memberGuid, { password_hash: hash, updated_at: clock.now() });
    await links.withdrawPasswordResets(transaction, memberGuid);
    const change = { action: 'account.set_password', objectType: 'account', objectId: memberGuid } as const;
    await audit.record(transaction, actor, change);
    return sessions.endOthers(transaction, memberGuid, except);
  }

  return {
    /** What a link is for, before it is used. */
    async inspectLink(token: string, from: From) {
      const exhausted = await limits.from(from.address);
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
     * By a link. An invitation sets a first password only: whoever invites may hold the link themselves, and must not
     * get into an account that somebody has already. A second factor that is on is asked for here too. Who resets a
     * password may have lost the account to somebody: passkeys go, for they may be that somebody's.
     */
    async setPassword(input: NewPassword, from: From): Promise<Begun | Failure> {
      const exhausted = await limits.from(from.address);
      if (exhausted) return exhausted;
      const link = await links.inspect(input.token);
      if (isFailure(link)) return link;
      const { member_guid: guid } = link;
      const person = (await people.find(guid)) as Person;
      const login = await selectLogin(queries, guid);
      // The password first: a weak one must not find out, at no cost, whether the address has an account.
      const refusal =
        checkPasswordStrength(input.password, person.email) ??
        checkLinkUsable(link, login) ??
        (login && (await entry.checkCode(login, input.totpCode)));
      if (refusal?.code === 'totp_invalid')
        return failedAttempts.record(refusal, { path: '/dashboard/password', from, memberGuid: guid });
      if (refusal) return refusal;
      const hash = await passwords.hash(knownPerson(guid), input.password);
      if (isFailure(hash)) return hash;
      const actor = actorOf(guid, from);
      const begun = await database.authentication.transaction(async (transaction) => {
        const current = await lockLogin(transaction, guid, clock.now());
        const used = await links.use(transaction, input.token);
        if (isFailure(used)) return used;
        const refused = checkLinkUsable(used, current);
        if (refused) return refused;
        const { organization_guid: organizationGuid } = used;
        const notInvited =
          organizationGuid === null
            ? undefined
            : await members.accept(transaction, actor, { organizationGuid, memberGuid: guid });
        if (notInvited) return notInvited;
        await people.rename(transaction, actor, guid, input.name);
        if (used.purpose === 'password_reset') await passkeys.removeAll(transaction, actor, guid);
        const revision = await replacePassword(transaction, actor, guid, { hash });
        const strength = { secondFactor: totp.isOn(login) };
        return { revision, ...(await sessions.start(transaction, actor, guid, from, strength)) };
      });
      if (isFailure(begun)) return begun;
      await settle(begun.revision);
      return begun;
    },

    /**
     * Removes the password, the passkeys, the sessions and the reset links of a person; the operator can still issue a
     * reset link. False when there was nothing to remove.
     */
    async lock(actor: Actor, memberGuid: string): Promise<boolean> {
      const { locked, revision } = await database.authentication.transaction(async (transaction) => {
        const now = clock.now();
        const login = await lockLogin(transaction, memberGuid, now);
        await links.withdrawPasswordResets(transaction, memberGuid);
        const passkeyCount = await passkeys.removeAll(transaction, actor, memberGuid);
        const ended = await sessions.endOthers(transaction, memberGuid);
        if (!hasPassword(login) && passkeyCount === 0 && ended === undefined)
          return { locked: false, revision: ended };
        await updateLogin(transaction, memberGuid, { password_hash: null, updated_at: now });
        const change = { action: 'account.lock', objectType: 'account', objectId: memberGuid } as const;
        await audit.record(transaction, actor, change);
        return { locked: true, revision: ended };
      });
      await settle(revision);
      return locked;
    },

    /** By somebody who is logged in as the person that was invited. */
    async acceptInvitation(session: Session, token: string, from: From): Promise<Failure | undefined> {
      const exhausted = await limits.from(from.address);
      if (exhausted) return exhausted;
      const { member_guid: memberGuid } = session;
      const outcome = await database.transaction(async (transaction) => {
        const used = await links.use(transaction, token);
        if (isFailure(used)) return used;
        const { organization_guid: organizationGuid } = used;
        if (used.member_guid !== memberGuid || organizationGuid === null)
          return new Failure('not_found', 'This is no invitation of yours');
        return members.accept(transaction, actorOf(memberGuid, from), { organizationGuid, memberGuid });
      });
      return isFailure(outcome) ? outcome : undefined;
    },

    async rename(memberGuid: string, name: string, from: From): Promise<void> {
      await database.transaction((transaction) =>
        people.rename(transaction, actorOf(memberGuid, from), memberGuid, name),
      );
    },

    async changePassword(
      session: Session,
      { currentPassword, newPassword }: { currentPassword: string; newPassword: string },
      from: From,
    ): Promise<Failure | undefined> {
      const { guid: sessionGuid, member_guid: memberGuid } = session;
      const unproved = await proofs.requireFreshSecondFactor(session);
      if (unproved) return unproved;
      const attempt = { path: '/dashboard/account/password', from };
      const checked = await proofs.checkPassword(memberGuid, currentPassword, attempt);
      if (isFailure(checked)) return checked;
      const { email } = (await people.find(memberGuid)) as Person;
      const weak = checkPasswordStrength(newPassword, email);
      if (weak) return weak;
      const hash = await passwords.hash(knownPerson(memberGuid), newPassword);
      if (isFailure(hash)) return hash;
      const revision = await changeByPassword(session, checked, (transaction) => {
        const actor = actorOf(memberGuid, from);
        return replacePassword(transaction, actor, memberGuid, { hash, except: sessionGuid });
      });
      if (isFailure(revision)) return revision;
      await settle(revision);
      return undefined;
    },

    /** Nothing becomes a passkey without having signed these, so the proof is asked for here alone. */
    async passkeyOptions(session: Session) {
      const { member_guid: memberGuid } = session;
      const refusal = (await proofs.requireFresh(session)) ?? (await limits.account(memberGuid));
      return refusal ?? passkeys.registrationOptions((await people.find(memberGuid)) as Person);
    },

    async removePasskey(session: Session, guid: string, from: From): Promise<Failure | undefined> {
      const { member_guid: memberGuid } = session;
      const refusal = await proofs.requireFresh(session);
      return refusal ?? passkeys.remove(actorOf(memberGuid, from), memberGuid, guid);
    },

    /** Who has the secret can confirm it, so the proof is asked for here alone. */
    async beginTotp(session: Session) {
      const refusal = await proofs.requireFresh(session);
      return refusal ?? totp.begin((await people.find(session.member_guid)) as Person);
    },

    async confirmTotp(session: Session, code: string, from: From): Promise<string[] | Failure> {
      const { member_guid: memberGuid } = session;
      const exhausted = await limits.account(memberGuid);
      if (exhausted) return exhausted;
      const actor = actorOf(memberGuid, from);
      return ownLogin.change<string[]>(session, async (transaction, login) => {
        const codes = await totp.confirm(transaction, actor, login, code);
        if (!isFailure(codes)) await sessions.prove(transaction, actor, session, { secondFactor: true });
        return codes;
      });
    },

    /** The proof was by a second factor: while a person has one, the password alone is no proof. */
    async turnOffTotp(session: Session, password: string, from: From): Promise<Failure | undefined> {
      const { member_guid: memberGuid } = session;
      const unproved = await proofs.requireFresh(session);
      if (unproved) return unproved;
      const attempt = { path: '/dashboard/account/totp', from };
      const checked = await proofs.checkPassword(memberGuid, password, attempt);
      if (isFailure(checked)) return checked;
      const outcome = await changeByPassword(session, checked, (transaction) =>
        totp.turnOff(transaction, actorOf(memberGuid, from), memberGuid),
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
  return new Failure('account_exists', 'This address has an account: log in to accept the invitation');
}
