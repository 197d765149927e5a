import { unwrap } from '../../infrastructure/http/errors.ts';
import {
  registerGet,
  registerList,
  registerPatch,
} from '../../infrastructure/http/requests/resource-routes.ts';
import { answers, GuidParams } from '../../infrastructure/http/requests/schemas.ts';
import type { HttpServer } from '../../infrastructure/http/server.ts';
import { registerCreate } from '../../infrastructure/idempotency/create-routes.ts';
import { actorOf, inBothEnvironments, requires, withFreshProof } from '../../tokens/access/access.ts';
import type { Invitations, Invited } from '../login/links/invitations.ts';
import {
  InvitedMemberView,
  MEMBER_ACTIVITY,
  MemberView,
  NewMember,
  RoleChange,
  viewMember,
} from './schema.ts';
import type { Members } from './service.ts';

/** Team members. Every member can list them, only a Founder can change them; API keys cannot do either. */
export function registerMembers(
  api: HttpServer,
  { members, invitations }: { members: Members; invitations: Invitations },
): void {
  const tags = ['Team'];
  const read = requires(['user'], 'members:read');
  const write = inBothEnvironments(withFreshProof(requires(['user'], 'members:write')));

  const shown = { tags, item: MemberView, view: viewMember, activity: MEMBER_ACTIVITY };

  registerList(api, '/members', {
    access: read,
    operationId: 'listMembers',
    summary: 'List the members of the team',
    tags,
    filters: {},
    errors: [404],
    item: MemberView,
    view: viewMember,
    list: ({ caller }, page) => members.list(caller.organizationGuid, page),
  });

  registerCreate(api, '/members', {
    access: write,
    operationId: 'inviteMember',
    summary: 'Invite a person to the team; without a mail server the response has the link',
    tags,
    body: NewMember,
    errors: [404],
    item: InvitedMemberView,
    view: ({ member, link, mailed }: Invited) => ({
      ...viewMember(member),
      ...(mailed ? {} : { invitation_link: link.reveal() }),
    }),
    showsSecret: ({ mailed }) => !mailed,
    create: (request, recordAnswer) =>
      invitations.invite(actorOf(request), request.caller.organizationGuid, request.body, recordAnswer),
  });

  registerGet(api, '/members/:guid', {
    ...shown,
    access: read,
    operationId: 'getMember',
    summary: 'Get a member of the team',
    get: ({ caller, params }) => members.get(caller.organizationGuid, params.guid),
  });

  registerPatch(api, '/members/:guid', {
    ...shown,
    access: write,
    operationId: 'updateMember',
    summary: 'Change the role of a member and revoke their tokens',
    body: RoleChange,
    errors: [409],
    change: (request, precondition) => {
      const { caller, params, body } = request;
      const key = { organizationGuid: caller.organizationGuid, memberGuid: params.guid };
      return members.changeRole(actorOf(request), key, body.role, precondition);
    },
  });

  api.delete(
    '/members/:guid',
    {
      config: write.config,
      schema: {
        ...write.documented,
        operationId: 'removeMember',
        summary: 'Remove a member from the team and revoke their tokens',
        tags,
        params: GuidParams,
        response: answers({ 204: { type: 'null' } }, 401, 403, 404, 409, 413, 415),
      },
    },
    async (request, reply) => {
      const { caller, params } = request;
      unwrap(await invitations.remove(actorOf(request), caller.organizationGuid, params.guid));
      return reply.code(204).send();
    },
  );
}
