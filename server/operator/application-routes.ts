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
import { type OperatorAuthentication, security } from './authentication.ts';

export type ApplicationDeps = {
  authentication: OperatorAuthentication;
  organizations: Organizations;
  applications: Applications;
};

/** Creates first keys, whose allowlist may be empty unless the Organization is live, and removes any key. */
export function registerApplicationRoutes(scope: HttpServer, deps: ApplicationDeps): void {
  const { authentication, organizations, applications } = deps;
  const tags = ['Operator: applications'];
  const response = answers({ 201: CreatedApplicationView }, 400, 401, 403, 404, 413, 415, 422);

  scope.post(
    '/organizations/:guid/applications',
    {
      schema: {
        operationId: 'operatorCreateOrganizationApplication',
        'x-command': 'organizations create-application',
        summary: 'Create an Organization key pair; only this response has the client_secret',
        tags,
        security,
        params: GuidParams,
        body: NewApplication,
        response,
      },
    },
    async (request, reply) => {
      const owner = { organizationGuid: request.params.guid };
      const actor = authentication.actor(request);
      const created = unwrap(await applications.create(actor, owner, request.body, 'optional'));
      return reply.code(201).send(viewCreated(created));
    },
  );

  scope.post(
    '/banks/:guid/applications',
    {
      schema: {
        operationId: 'operatorCreateBankApplication',
        'x-command': 'banks create-application',
        summary: 'Create a Bank key pair; only this response has the client_secret',
        tags,
        security,
        params: GuidParams,
        body: NewApplication,
        response,
      },
    },
    async (request, reply) => {
      const bank = unwrap(await organizations.getBank(request.params.guid));
      const owner = { organizationGuid: bank.organization_guid, bank };
      const actor = authentication.actor(request);
      const created = unwrap(await applications.create(actor, owner, request.body, 'optional'));
      return reply.code(201).send(viewCreated(created));
    },
  );

  scope.delete(
    '/applications/:client_id',
    {
      schema: {
        operationId: 'operatorDeleteApplication',
        'x-command': 'applications remove',
        summary: 'Delete a key pair of any partner and revoke its tokens on every node',
        tags,
        security,
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
