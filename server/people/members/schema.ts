import Type, { type Static } from 'typebox';
import { Guid, strictObject, Timestamp } from '../../infrastructure/http/requests/schemas.ts';
import type { Member } from './store.ts';

/** RFC 5321, section 4.5.3.1. */
const MAX_EMAIL_CHARACTERS = 254;
const MAX_NAME_CHARACTERS = 128;

const ROLES = ['founder', 'key_admin', 'developer', 'viewer'] as const;

export const Email = Type.String({
  format: 'email',
  maxLength: MAX_EMAIL_CHARACTERS,
  example: 'ada@partner.example',
});
export const PersonName = Type.String({ minLength: 1, maxLength: MAX_NAME_CHARACTERS, pattern: '\\S' });
export const RoleName = Type.Enum([...ROLES], { description: ROLES.join(', ') });

export const NewMember = strictObject({ email: Email, role: RoleName });
export const RoleChange = strictObject({ role: RoleName });

export const MemberView = Type.Object({
  guid: Guid,
  email: Type.String(),
  name: Type.Optional(Type.String({ description: 'absent until the person accepts the invitation' })),
  role: RoleName,
  state: Type.Enum(['invited', 'active'], { description: 'invited: has not accepted the invitation yet' }),
  created_at: Timestamp,
  last_seen_at: Type.Optional(Timestamp),
});

const invitationLink = Type.String({
  description: 'works once, for 7 days; give it only to the invited person',
});
export const InvitedMemberView = Type.Object({
  ...MemberView.properties,
  invitation_link: Type.Optional(invitationLink),
});

export function viewMember(member: Member): Static<typeof MemberView> {
  const { name, last_seen_at: lastSeenAt } = member;
  return {
    guid: member.guid,
    email: member.email,
    ...(name === null ? {} : { name }),
    role: member.role,
    state: member.accepted_at === null ? 'invited' : 'active',
    created_at: member.created_at.toISOString(),
    ...(lastSeenAt === null ? {} : { last_seen_at: lastSeenAt.toISOString() }),
  };
}
