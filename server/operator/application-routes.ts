import {
  ApplicationParams,
  CreatedApplicationView,
  NewApplication,
  viewCreated,
} from '../credentials/applications/schema.ts';
import type { Applications } from '../credentials/applications/service.ts';
import type { Organizations } from '../credentials/organizations/service.ts';
import { unwrap } from '../infrastructure/http/errors.ts';
import { answers, GuidParams } from '../infrastructure/http/requests/schemas.ts';
import type { HttpServer } from '../infrastructure/http/server.ts';
import { registerCreate } from '../infrastructure/idempotency/create-routes.ts';
import { isFailure } from '../infrastructure/runtime/failure.ts';
import { type OperatorAuthentication, operatorAccess } from './authentication.ts';

export type ApplicationDeps = {
  authentication: OperatorAuthentication;
  organizations: Organizations;
  applications: Applications;
};

/** Creates first keys, whose allowlist may be empty unless the Organization is live, and removes any key. */
export function registerApplicationRoutes(scope: HttpServer, deps: ApplicationDeps): void {
  const { authentication, organizations, applications } = deps;
  const tags = ['Operator: applications'];
  const route = {
    tags,
    params: GuidParams,
    body: NewApplication,
    errors: [404],
    item: CreatedApplicationView,
    view: viewCreated,
    showsSecret: true,
  } as const;

  registerCreate(scope, '/organizations/:guid/applications', {
    ...route,
    access: operatorAccess('organizations create-application'),
    operationId: 'operatorCreateOrganizationApplication',
    summary: 'Create an Organization key pair; only this response has the client_secret',
    create: (request, recordAnswer) => {
      const owner = { organizationGuid: request.params.guid };
      return applications.create(
        authentication.actor(request),
        owner,
        request.body,
        'optional',
        recordAnswer,
      );
    },
  });

  registerCreate(scope, '/banks/:guid/applications', {
    ...route,
    access: operatorAccess('banks create-application'),
    operationId: 'operatorCreateBankApplication',
    summary: 'Create a Bank key pair; only this response has the client_secret',
    create: async (request, recordAnswer) => {
      const bank = await organizations.getBank(request.params.guid);
      if (isFailure(bank)) return bank;
      const owner = { organizationGuid: bank.organization_guid, bank };
      return applications.create(
        authentication.actor(request),
        owner,
        request.body,
        'optional',
        recordAnswer,
      );
    },
  });

  scope.delete(
    '/applications/:client_id',
    {
      schema: {
        ...operatorAccess('applications remove').documented,
        operationId: 'operatorDeleteApplication',
        summary: 'Delete a key pair of any partner and revoke its tokens on every node',
        tags,
        params: ApplicationParams,
        response: answers({ 204: { type: 'null' } }, 401, 403, 404, 413, 415),
      },
    },
    async (request, reply) => {
      unwrap(await applications.removeAny(authentication.actor(request), request.params.client_id));
      return reply.code(204).send();
    },
  );
}
