import Type from 'typebox';
import { unwrap } from '../infrastructure/http/errors.ts';
import { envelope, listOf, listQuery, pageOf } from '../infrastructure/http/requests/paging.ts';
import {
  answers,
  Guid,
  GuidParams,
  strictObject,
  Timestamp,
} from '../infrastructure/http/requests/schemas.ts';
import type { HttpServer } from '../infrastructure/http/server.ts';
import type { LoginRoom } from '../people/login/service.ts';
import { InvitedMemberView, MemberView, NewMember, viewMember } from '../people/members/schema.ts';
import type { Members } from '../people/members/service.ts';
import { type OperatorAuthentication, security } from './authentication.ts';

export type MemberDeps = { authentication: OperatorAuthentication; members: Members; login: LoginRoom };

const TeamMemberParams = strictObject({ guid: Guid, member_guid: Guid });
const PasswordResetOptions = strictObject({
  remove_totp: Type.Optional(
    Type.Boolean({ description: 'turn one-time passwords off too, for who lost their authenticator' }),
  ),
});
const PasswordResetView = Type.Object({
  link: Type.String({ description: 'good once; hand it to the person and to nobody else' }),
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
        operationId: 'operator.members.create',
        summary: 'Invite a person to a team; invitation_link is shown this once',
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

  scope.get(
    '/organizations/:guid/members',
    {
      schema: {
        operationId: 'operator.members.list',
        summary: 'List the team of an Organization',
        tags,
        security,
        params: GuidParams,
        querystring: listQuery({}),
        response: answers({ 200: listOf(MemberView) }, 400, 401, 403, 404),
      },
    },
    async (request) => {
      const page = unwrap(pageOf(request.query));
      return envelope(page, unwrap(await members.list(request.params.guid, page)), viewMember);
    },
  );

  scope.delete(
    '/organizations/:guid/members/:member_guid',
    {
      schema: {
        operationId: 'operator.members.remove',
        summary: 'Take a member from a team, the last Founder too',
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
        operationId: 'operator.members.password_reset',
        summary: 'A link with which a person sets a new password',
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
