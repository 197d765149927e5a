import {
  SecondFactorChanges,
  SecondFactorView,
  viewSecondFactor,
} from '../../credentials/organizations/schema.ts';
import type { Organizations } from '../../credentials/organizations/service.ts';
import { unwrap } from '../../infrastructure/http/errors.ts';
import { answers } from '../../infrastructure/http/requests/schemas.ts';
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

  api.get(
    '/member_policy',
    {
      config: read.config,
      schema: {
        ...read.documented,
        operationId: 'getMemberPolicy',
        summary: 'Get the second-factor policy of the Organization',
        tags,
        response: answers({ 200: SecondFactorView }, 401, 403, 404),
      },
    },
    async ({ caller }) => viewSecondFactor(unwrap(await organizations.get(caller.organizationGuid))),
  );

  api.patch(
    '/member_policy',
    {
      config: write.config,
      schema: {
        ...write.documented,
        operationId: 'updateMemberPolicy',
        summary: 'Change the second-factor policy of the Organization',
        tags,
        body: SecondFactorChanges,
        response: answers({ 200: SecondFactorView }, 400, 401, 403, 404, 413, 415),
      },
    },
    async (request) => {
      const { caller, body } = request;
      const changed = await members.changePolicy(actorOf(request), caller.organizationGuid, body, caller);
      return viewSecondFactor(unwrap(changed));
    },
  );
}
