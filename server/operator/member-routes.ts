import Type from 'typebox';
import { unwrap } from '../infrastructure/http/errors.ts';
import { registerList } from '../infrastructure/http/requests/resource-routes.ts';
import {
  answers,
  Guid,
  GuidParams,
  inputSchema,
  strictObject,
  Timestamp,
  viewSchema,
} from '../infrastructure/http/requests/schemas.ts';
import type { HttpServer } from '../infrastructure/http/server.ts';
import { registerCreate } from '../infrastructure/idempotency/create-routes.ts';
import type { LoginModule } from '../people/login/service.ts';
import { InvitedMemberView, MemberView, NewMember, viewMember } from '../people/members/schema.ts';
import type { Members } from '../people/members/service.ts';
import { type OperatorAuthentication, operatorAccess } from './authentication.ts';

export type MemberDeps = { authentication: OperatorAuthentication; members: Members; login: LoginModule };

const TeamMemberParams = strictObject({ guid: Guid, member_guid: Guid });
const PasswordResetOptions = inputSchema('PasswordResetOptions', {
  remove_totp: Type.Optional(
    Type.Boolean({ description: 'Also disable one-time passwords, for a lost authenticator' }),
  ),
});
const PasswordResetView = viewSchema('PasswordReset', {
  link: Type.String({
    description: 'Single-use link. Send it to this person only',
    example: 'https://portico.example/password#token=EXAMPLE7q3ZkV1n',
  }),
  expires_at: Timestamp,
});

export function registerMemberRoutes(
  scope: HttpServer,
  { authentication, members, login }: MemberDeps,
): void {
  const tags = ['Operator: members'];

  registerCreate(scope, '/organizations/:guid/members', {
    access: operatorAccess('members create'),
    operationId: 'operatorInviteMember',
    summary: 'Invite a person to an Organization; only this response has the invitation_link',
    tags,
    params: GuidParams,
    body: NewMember,
    errors: [404],
    item: InvitedMemberView,
    view: ({ member, link }) => ({ ...viewMember(member), invitation_link: link.reveal() }),
    showsSecret: true,
    create: (request, recordAnswer) =>
      login.invitations.invite(
        authentication.actor(request),
        request.params.guid,
        request.body,
        recordAnswer,
      ),
  });

  registerList(scope, '/organizations/:guid/members', {
    access: operatorAccess('members list'),
    operationId: 'operatorListMembers',
    summary: 'List the members of an Organization',
    tags,
    params: GuidParams,
    filters: {},
    errors: [404],
    item: MemberView,
    view: viewMember,
    list: ({ params }, page) => members.list(params.guid, page),
  });

  scope.delete(
    '/organizations/:guid/members/:member_guid',
    {
      schema: {
        ...operatorAccess('members remove').documented,
        operationId: 'operatorRemoveMember',
        summary: 'Remove a member from an Organization, even the last Founder',
        tags,
        params: TeamMemberParams,
        response: answers({ 204: { type: 'null' } }, 401, 403, 404, 413, 415),
      },
    },
    async (request, reply) => {
      const { guid, member_guid: memberGuid } = request.params;
      unwrap(await login.invitations.remove(authentication.actor(request), guid, memberGuid));
      return reply.code(204).send();
    },
  );

  registerCreate(scope, '/members/:guid/password_reset', {
    access: operatorAccess('members password-reset'),
    operationId: 'operatorResetPassword',
    summary: 'Create a password reset link for a person',
    tags,
    params: GuidParams,
    body: PasswordResetOptions,
    status: 200,
    errors: [404],
    item: PasswordResetView,
    view: ({ link, expiresAt }) => ({ link: link.reveal(), expires_at: expiresAt.toISOString() }),
    showsSecret: true,
    create: (request, recordAnswer) => {
      const options = { removeTotp: request.body.remove_totp ?? false };
      const actor = authentication.actor(request);
      return login.passwordResets.issueFor(actor, request.params.guid, options, recordAnswer);
    },
  });
}
