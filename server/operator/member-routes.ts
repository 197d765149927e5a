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
import type { LoginModule } from '../people/login/service.ts';
import { InvitedMemberView, MemberView, NewMember, viewMember } from '../people/members/schema.ts';
import type { Members } from '../people/members/service.ts';
import { type OperatorAuthentication, operatorAccess, security } from './authentication.ts';

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

  scope.post(
    '/organizations/:guid/members',
    {
      schema: {
        operationId: 'operatorInviteMember',
        'x-command': 'members create',
        summary: 'Invite a person to an Organization; only this response has the invitation_link',
        tags,
        security,
        params: GuidParams,
        body: NewMember,
        response: answers({ 201: InvitedMemberView }, 400, 401, 403, 404, 409, 413, 415, 422),
      },
    },
    async (request, reply) => {
      const actor = authentication.actor(request);
      const invited = await login.invitations.invite(actor, request.params.guid, request.body);
      const { member, link } = unwrap(invited);
      return reply.code(201).send({ ...viewMember(member), invitation_link: link.reveal() });
    },
  );

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
        operationId: 'operatorRemoveMember',
        'x-command': 'members remove',
        summary: 'Remove a member from an Organization, even the last Founder',
        tags,
        security,
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

  scope.post(
    '/members/:guid/password_reset',
    {
      schema: {
        operationId: 'operatorResetPassword',
        'x-command': 'members password-reset',
        summary: 'Create a password reset link for a person',
        tags,
        security,
        params: GuidParams,
        body: PasswordResetOptions,
        response: answers({ 200: PasswordResetView }, 400, 401, 403, 404, 413, 415),
      },
    },
    async (request) => {
      const actor = authentication.actor(request);
      const removeTotp = request.body.remove_totp ?? false;
      const issued = unwrap(await login.passwordResets.issueFor(actor, request.params.guid, { removeTotp }));
      return { link: issued.link.reveal(), expires_at: issued.expiresAt.toISOString() };
    },
  );
}
