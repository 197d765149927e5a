import {
  NewOrganization,
  OrganizationChanges,
  OrganizationView,
  viewOrganization,
} from '../credentials/organizations/schema.ts';
import type { Organizations } from '../credentials/organizations/service.ts';
import { unwrap } from '../infrastructure/http/errors.ts';
import { envelope, listOf, listQuery, pageOf } from '../infrastructure/http/requests/paging.ts';
import { answers, GuidParams } from '../infrastructure/http/requests/schemas.ts';
import type { HttpServer } from '../infrastructure/http/server.ts';
import { type OperatorAuthentication, security } from './authentication.ts';

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
        operationId: 'operator.organizations.create',
        summary: 'Create an Organization',
        tags,
        security,
        body: NewOrganization,
        response: answers({ 201: OrganizationView }, 400, 401, 403, 413, 415),
      },
    },
    async (request, reply) => {
      const organization = await organizations.create(authentication.actor(request), request.body);
      return reply.code(201).send(viewOrganization(organization));
    },
  );

  scope.get(
    '/organizations',
    {
      schema: {
        operationId: 'operator.organizations.list',
        summary: 'List Organizations',
        tags,
        security,
        querystring: listQuery({}),
        response: answers({ 200: listOf(OrganizationView) }, 400, 401, 403),
      },
    },
    async (request) => {
      const page = unwrap(pageOf(request.query));
      return envelope(page, await organizations.list(page), viewOrganization);
    },
  );

  scope.get(
    '/organizations/:guid',
    {
      schema: {
        operationId: 'operator.organizations.get',
        summary: 'Get an Organization',
        tags,
        security,
        params: GuidParams,
        response: answers({ 200: OrganizationView }, 401, 403, 404),
      },
    },
    async (request) => viewOrganization(unwrap(await organizations.get(request.params.guid))),
  );

  scope.patch(
    '/organizations/:guid',
    {
      schema: {
        operationId: 'operator.organizations.update',
        summary: 'Change an Organization: name, live, features',
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
