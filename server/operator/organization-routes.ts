import {
  ControlledOrganizationView,
  NewOrganization,
  OrganizationChanges,
  viewControlledOrganization,
} from '../credentials/organizations/schema.ts';
import type { Organizations } from '../credentials/organizations/service.ts';
import { registerGet, registerList, registerPatch } from '../infrastructure/http/requests/resource-routes.ts';
import { answers } from '../infrastructure/http/requests/schemas.ts';
import type { HttpServer } from '../infrastructure/http/server.ts';
import { type OperatorAuthentication, operatorAccess, security } from './authentication.ts';

export type OrganizationDeps = { authentication: OperatorAuthentication; organizations: Organizations };

export function registerOrganizationRoutes(
  scope: HttpServer,
  { authentication, organizations }: OrganizationDeps,
): void {
  const tags = ['Operator: organizations'];

  scope.post(
    '/organizations',
    {
      schema: {
        operationId: 'operatorCreateOrganization',
        'x-command': 'organizations create',
        summary: 'Create an Organization',
        tags,
        security,
        body: NewOrganization,
        response: answers({ 201: ControlledOrganizationView }, 400, 401, 403, 413, 415),
      },
    },
    async (request, reply) => {
      const organization = await organizations.create(authentication.actor(request), request.body);
      return reply.code(201).send(viewControlledOrganization(organization));
    },
  );

  registerList(scope, '/organizations', {
    access: operatorAccess('organizations list'),
    operationId: 'operatorListOrganizations',
    summary: 'List Organizations',
    tags,
    filters: {},
    item: ControlledOrganizationView,
    view: viewControlledOrganization,
    list: (_request, page) => organizations.list(page),
  });

  registerGet(scope, '/organizations/:guid', {
    access: operatorAccess('organizations get'),
    operationId: 'operatorGetOrganization',
    summary: 'Get an Organization',
    tags,
    item: ControlledOrganizationView,
    view: viewControlledOrganization,
    get: ({ params }) => organizations.get(params.guid),
  });

  registerPatch(scope, '/organizations/:guid', {
    access: operatorAccess('organizations update'),
    operationId: 'operatorUpdateOrganization',
    summary: 'Update an Organization: name, live, features, second factor',
    tags,
    body: OrganizationChanges,
    errors: [422],
    item: ControlledOrganizationView,
    view: viewControlledOrganization,
    change: (request, precondition) =>
      organizations.update(authentication.actor(request), request.params.guid, request.body, precondition),
  });
}
