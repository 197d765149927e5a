import { unwrap } from '../../infrastructure/http/errors.ts';
import {
  createdAtFilters,
  environmentsFilter,
  guidsFilter,
  updatedAtFilters,
} from '../../infrastructure/http/requests/filters.ts';
import {
  registerGet,
  registerList,
  registerPatch,
} from '../../infrastructure/http/requests/resource-routes.ts';
import type { HttpServer } from '../../infrastructure/http/server.ts';
import { registerCreate } from '../../infrastructure/idempotency/create-routes.ts';
import { actorOf, inBothEnvironments, requires } from '../../tokens/access/access.ts';
import {
  BankChanges,
  BankView,
  NewSandboxBank,
  OrganizationView,
  OwnOrganizationChanges,
  viewBank,
  viewOrganization,
} from './schema.ts';
import type { Organizations } from './service.ts';

/** Banks, for partners. */
export function registerBanks(api: HttpServer, { organizations }: { organizations: Organizations }): void {
  const tags = ['Banks'];
  const create = requires(['organization', 'user'], 'banks:execute');
  const read = requires(['organization', 'bank', 'user'], 'banks:read');
  const write = requires(['organization', 'bank', 'user'], 'banks:write');

  registerCreate(api, '/banks', {
    access: create,
    operationId: 'createBank',
    summary: 'Create a Bank (sandbox only). Emits bank.created',
    tags,
    body: NewSandboxBank,
    item: BankView,
    view: viewBank,
    create: (request, recordAnswer) =>
      organizations.createSandboxBank(actorOf(request), request.caller, request.body, recordAnswer),
  });

  registerList(api, '/banks', {
    access: read,
    operationId: 'listBanks',
    summary: 'List the Banks that the token can access',
    tags,
    filters: {
      guid: guidsFilter,
      type: environmentsFilter,
      environment: environmentsFilter,
      ...createdAtFilters,
      ...updatedAtFilters,
    },
    item: BankView,
    view: viewBank,
    list: ({ caller }, page, filters) => organizations.listVisibleBanks(caller, page, filters),
  });

  registerGet(api, '/banks/:guid', {
    access: read,
    operationId: 'getBank',
    summary: 'Get a Bank',
    tags,
    item: BankView,
    view: viewBank,
    get: ({ caller, params }) => organizations.getVisibleBank(caller, params.guid),
  });

  registerPatch(api, '/banks/:guid', {
    access: write,
    operationId: 'updateBank',
    summary: 'Rename a Bank. Emits bank.updated',
    tags,
    body: BankChanges,
    item: BankView,
    view: viewBank,
    async change(request, precondition) {
      const { guid } = unwrap(await organizations.getVisibleBank(request.caller, request.params.guid));
      return organizations.updateBank(actorOf(request), guid, request.body, precondition);
    },
  });
}

/** The Organization of the token, for partners. */
export function registerOrganizations(
  api: HttpServer,
  { organizations }: { organizations: Organizations },
): void {
  const tags = ['Organizations'];
  const read = requires(['organization', 'user'], 'organizations:read');
  const write = inBothEnvironments(requires(['organization', 'user'], 'organizations:write'));
  const shown = { tags, item: OrganizationView, view: viewOrganization };

  registerList(api, '/organizations', {
    ...shown,
    access: read,
    operationId: 'listOrganizations',
    summary: 'List Organizations: the one of the token',
    filters: {},
    list: ({ caller }, page) => organizations.listOwn(caller.organizationGuid, page),
  });

  registerGet(api, '/organizations/:guid', {
    ...shown,
    access: read,
    operationId: 'getOrganization',
    summary: 'Get the Organization of the token',
    get: ({ caller, params }) => organizations.getOwn(caller.organizationGuid, params.guid),
  });

  registerPatch(api, '/organizations/:guid', {
    ...shown,
    access: write,
    operationId: 'updateOrganization',
    summary: 'Rename the Organization of the token',
    body: OwnOrganizationChanges,
    change: (request, precondition) => {
      const { caller, params, body } = request;
      return organizations.updateOwn(
        actorOf(request),
        caller.organizationGuid,
        params.guid,
        body,
        precondition,
      );
    },
  });
}
