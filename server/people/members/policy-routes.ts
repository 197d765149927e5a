import {
  SecondFactorChanges,
  SecondFactorView,
  viewSecondFactor,
} from '../../credentials/organizations/schema.ts';
import type { Organizations } from '../../credentials/organizations/service.ts';
import { registerGet, registerPatch } from '../../infrastructure/http/requests/resource-routes.ts';
import { strictObject } from '../../infrastructure/http/requests/schemas.ts';
import type { HttpServer } from '../../infrastructure/http/server.ts';
import { actorOf, inBothEnvironments, requires, withFreshProof } from '../../tokens/access/access.ts';
import type { Members } from './service.ts';

/** Second-factor policy of an Organization. Every member can read it, only a Founder can change it. */
export function registerMemberPolicy(
  api: HttpServer,
  { members, organizations }: { members: Members; organizations: Organizations },
): void {
  const tags = ['Team'];
  const read = requires(['user'], 'members:read');
  const write = inBothEnvironments(withFreshProof(requires(['user'], 'members:write')));

  const shown = { tags, params: strictObject({}), item: SecondFactorView, view: viewSecondFactor };

  registerGet(api, '/member_policy', {
    ...shown,
    access: read,
    operationId: 'getMemberPolicy',
    summary: 'Get the second-factor policy of the Organization',
    get: ({ caller }) => organizations.get(caller.organizationGuid),
  });

  registerPatch(api, '/member_policy', {
    ...shown,
    access: write,
    operationId: 'updateMemberPolicy',
    summary: 'Change the second-factor policy of the Organization',
    body: SecondFactorChanges,
    change: (request, precondition) => {
      const { caller, body } = request;
      return members.changePolicy(actorOf(request), caller, body, precondition);
    },
  });
}
