import type { Static } from 'typebox';
import type { Organizations } from '../../../credentials/organizations/service.ts';
import type { Actor } from '../../../infrastructure/audit/service.ts';
import type { Database } from '../../../infrastructure/database/database.ts';
import { type RecordAnswer, recordNothing } from '../../../infrastructure/idempotency/record-answer.ts';
import { type Failure, isFailure } from '../../../infrastructure/runtime/failure.ts';
import type { Revocations } from '../../../tokens/revoking/revocations.ts';
import type { NewMember } from '../../members/schema.ts';
import type { Member, Members } from '../../members/service.ts';
import type { LoginLimits } from '../limits/limits.ts';
import type { IssuedLink, Links } from './links.ts';
import type { Mail } from './mail.ts';
import { invitationMessage } from './messages.ts';

export type Invitations = ReturnType<typeof createInvitations>;
export type Invited = { member: Member; link: IssuedLink['link']; mailed: boolean };

type Deps = {
  database: Database;
  organizations: Organizations;
  members: Members;
  links: Links;
  mail: Mail | undefined;
  limits: LoginLimits;
  revocations: Revocations;
  supportEmail: string;
};

/** Invitations: creates and removes a membership together with its link. */
export function createInvitations(deps: Deps) {
  const { database, organizations, members, links, mail, limits, revocations, supportEmail } = deps;
  return {
    /** Mails the link if a mail server is configured; otherwise the caller passes it on. */
    async invite(
      actor: Actor,
      organizationGuid: string,
      input: Static<typeof NewMember>,
      recordAnswer: RecordAnswer<Invited> = recordNothing,
    ): Promise<Invited | Failure> {
      const exhausted =
        actor.type === 'user' ? await limits.invitation(organizationGuid, input.email) : undefined;
      if (exhausted) return exhausted;
      const organization = await organizations.get(organizationGuid);
      if (isFailure(organization)) return organization;
      const invited = await database.transaction(async (transaction) => {
        const member = await members.invite(transaction, actor, organizationGuid, input);
        if (isFailure(member)) return member;
        const { link, expiresAt } = await links.issue(transaction, member.guid, organizationGuid);
        const revoked = await revocations.checkAuthor(transaction, actor);
        if (revoked) return revoked;
        const invitee = { ...member, invitation_expires_at: expiresAt };
        const result = { member: invitee, link, mailed: mail !== undefined };
        await recordAnswer(transaction, result);
        return { ...result, expiresAt };
      });
      if (isFailure(invited)) return invited;
      const { expiresAt, ...result } = invited;
      const { member, link } = result;
      const { name: organizationName } = organization;
      mail?.send(invitationMessage({ to: member.email, link, expiresAt, supportEmail, organizationName }));
      return result;
    },

    remove(actor: Actor, organizationGuid: string, memberGuid: string): Promise<Failure | undefined> {
      return members.remove(actor, organizationGuid, memberGuid, (transaction) =>
        links.withdraw(transaction, memberGuid, organizationGuid),
      );
    },
  };
}
