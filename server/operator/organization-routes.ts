import {
  NewOrganization,
  OrganizationChanges,
  OrganizationView,
  viewOrganization,
} from '../credentials/organizations/schema.ts';
import type { Organizations } from '../credentials/organizations/service.ts';
import { unwrap } from '../infrastructure/http/errors.ts';
import { registerGet, registerList } from '../infrastructure/http/requests/resource-routes.ts';
import { answers, GuidParams } from '../infrastructure/http/requests/schemas.ts';
import type { HttpServer } from '../infrastructure/http/server.ts';
import { registerCreate } from '../infrastructure/idempotency/create-routes.ts';
import { type OperatorAuthentication, operatorAccess, security } from './authentication.ts';

export type OrganizationDeps = { authentication: OperatorAuthentication; organizations: Organizations };

export function registerOrganizationRoutes(
  scope: HttpServer,
  { authentication, organizations }: OrganizationDeps,
): void {
  const tags = ['Operator: organizations'];

  registerCreate(scope, '/organizations', {
    access: operatorAccess('organizations create'),
    operationId: 'operatorCreateOrganization',
    summary: 'Create an Organization',
    tags,
    body: NewOrganization,
    item: OrganizationView,
    view: viewOrganization,
    create: (request, recordAnswer) =>
      organizations.create(authentication.actor(request), request.body, recordAnswer),
  });

  registerList(scope, '/organizations', {
    access: operatorAccess('organizations list'),
    operationId: 'operatorListOrganizations',
    summary: 'List Organizations',
    tags,
    filters: {},
    item: OrganizationView,
    view: viewOrganization,
    list: (_request, page) => organizations.list(page),
  });

  registerGet(scope, '/organizations/:guid', {
    access: operatorAccess('organizations get'),
    operationId: 'operatorGetOrganization',
    summary: 'Get an Organization',
    tags,
    item: OrganizationView,
    view: viewOrganization,
    get: ({ params }) => organizations.get(params.guid),
  });

  scope.patch(
    '/organizations/:guid',
    {
      schema: {
        operationId: 'operatorUpdateOrganization',
        'x-command': 'organizations update',
        summary: 'Update an Organization: name, live, features, second factor',
        tags,
        security,
        params: GuidParams,
        body: OrganizationChanges,
        response: answers({ 200: OrganizationView }, 400, 401, 403, 404, 413, 415, 422),
      },
    },
    async (request) => {
      const actor = authentication.actor(request);
      return viewOrganization(unwrap(await organizations.update(actor, request.params.guid, request.body)));
    },
  );
}
