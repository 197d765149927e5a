import Type, { type Static } from 'typebox';
import {
  Guid,
  inputSchema,
  nameSchema,
  Timestamp,
  viewSchema,
} from '../../infrastructure/http/requests/schemas.ts';
import type { Member } from './store.ts';

/** RFC 5321, section 4.5.3.1. */
const MAX_EMAIL_CHARACTERS = 254;
const MAX_NAME_CHARACTERS = 128;

const ROLES = ['founder', 'key_admin', 'developer', 'viewer'] as const;

export const Email = Type.String({
  format: 'email',
  maxLength: MAX_EMAIL_CHARACTERS,
  description: `An email address of at most ${MAX_EMAIL_CHARACTERS} characters`,
  example: 'ada@partner.example',
});
export const PersonName = nameSchema(MAX_NAME_CHARACTERS, 'Ada Lovelace');
export const RoleName = Type.Enum([...ROLES], {
  title: 'Role',
  description: ROLES.join(', '),
  example: 'developer',
});

export const NewMember = inputSchema('NewMember', { email: Email, role: RoleName });
export const RoleChange = inputSchema('MemberChanges', { role: RoleName });

export const MemberView = viewSchema('Member', {
  guid: Guid,
  email: Type.String({ example: 'ada@partner.example' }),
  name: Type.Optional(
    Type.String({ description: 'Absent until the person accepts the invitation', example: 'Ada Lovelace' }),
  ),
  role: RoleName,
  state: Type.Enum(['invited', 'active'], {
    title: 'MemberState',
    description: 'invited: has not accepted the invitation yet',
    example: 'active',
  }),
  created_at: Timestamp,
  invitation_expires_at: Type.Optional({
    ...Timestamp,
    description: 'Only while invited; absent or past when the link has expired. Invite the address again',
  }),
  last_seen_at: Type.Optional(Timestamp),
});

/** Changes with each login of the member. */
export const MEMBER_ACTIVITY = ['last_seen_at'] as const;

const invitationLink = Type.String({
  description: 'Single-use link, valid for 7 days. Send it to the invited person only',
  example: 'https://portico.example/invitation#token=EXAMPLE7q3ZkV1n',
});
export const InvitedMemberView = Type.Object(
  {
    ...MemberView.properties,
    invitation_link: Type.Optional(invitationLink),
  },
  { title: 'InvitedMember', example: { state: 'invited' } },
);

export function viewMember(member: Member): Static<typeof MemberView> {
  const { name, last_seen_at: lastSeenAt, invitation_expires_at: expiresAt } = member;
  return {
    guid: member.guid,
    email: member.email,
    ...(name === null ? {} : { name }),
    role: member.role,
    state: member.accepted_at === null ? 'invited' : 'active',
    created_at: member.created_at.toISOString(),
    ...(expiresAt === null ? {} : { invitation_expires_at: expiresAt.toISOString() }),
    ...(lastSeenAt === null ? {} : { last_seen_at: lastSeenAt.toISOString() }),
  };
}
