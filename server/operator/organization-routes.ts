import {
  ControlledOrganizationView,
  NewOrganization,
  OrganizationChanges,
  viewControlledOrganization,
} from '../credentials/organizations/schema.ts';
import type { Organizations } from '../credentials/organizations/service.ts';
import { registerGet, registerList, registerPatch } from '../infrastructure/http/requests/resource-routes.ts';
import type { HttpServer } from '../infrastructure/http/server.ts';
import { registerCreate } from '../infrastructure/idempotency/create-routes.ts';
import { type OperatorAuthentication, operatorAccess } from './authentication.ts';

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
    item: ControlledOrganizationView,
    view: viewControlledOrganization,
    create: (request, recordAnswer) =>
      organizations.create(authentication.actor(request), request.body, recordAnswer),
  });

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
