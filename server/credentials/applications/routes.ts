import type { FastifyRequest } from 'fastify';
import { unwrap } from '../../infrastructure/http/errors.ts';
import { pascalCase } from '../../infrastructure/http/openapi/names.ts';
import {
  createdAtFilters,
  guidsFilter,
  updatedAtFilters,
} from '../../infrastructure/http/requests/filters.ts';
import {
  registerGet,
  registerList,
  registerPatch,
} from '../../infrastructure/http/requests/resource-routes.ts';
import { answers } from '../../infrastructure/http/requests/schemas.ts';
import type { HttpServer } from '../../infrastructure/http/server.ts';
import { registerCreate } from '../../infrastructure/idempotency/create-routes.ts';
import { isFailure } from '../../infrastructure/runtime/failure.ts';
import { actorOf, inBothEnvironments, requires, withFreshProof } from '../../tokens/access/access.ts';
import type { TokenType } from '../../tokens/claims.ts';
import type { Organizations } from '../organizations/service.ts';
import {
  APPLICATION_ACTIVITY,
  ApplicationChanges,
  ApplicationParams,
  ApplicationView,
  CreatedApplicationView,
  NewApplication,
  NewBankApplication,
  viewApplication,
  viewCreated,
} from './schema.ts';
import type { AllowlistPolicy, Applications, Owner } from './service.ts';

export type ApplicationRoutesDeps = {
  applications: Applications;
  organizations: Organizations;
  allowlistPolicy: AllowlistPolicy;
};

/** Key pairs of Organizations and of banks: the same operations on two paths, for different token types. */
export function registerApplications(api: HttpServer, deps: ApplicationRoutesDeps): void {
  registerKind(api, deps, 'organization');
  registerKind(api, deps, 'bank');
  registerCreation(api, deps);
}

function registerKind(api: HttpServer, { applications }: ApplicationRoutesDeps, kind: Owner['kind']): void {
  const path = `/${kind}_applications`;
  const owner = pascalCase(kind);
  const tags = ['Applications'];
  const types =
    kind === 'bank' ? (['organization', 'bank', 'user'] as const) : (['organization', 'user'] as const);
  const read = requires(types, `${kind}_applications:read`);
  const write = change(kind, types);
  const remove = change(kind, ['user']);
  const ownerOf = ({ caller }: Pick<FastifyRequest, 'caller'>): Owner => ({ ...caller, kind });

  registerList(api, path, {
    access: read,
    operationId: `list${owner}Applications`,
    summary: `List the ${kind} key pairs that the token can access`,
    tags,
    filters: {
      ...createdAtFilters,
      ...updatedAtFilters,
      ...(kind === 'bank' ? { bank_guid: guidsFilter } : {}),
    },
    item: ApplicationView,
    view: viewApplication,
    list: (request, page, filters) => applications.list(ownerOf(request), page, filters),
  });

  registerGet(api, `${path}/:client_id`, {
    access: read,
    operationId: `get${owner}Application`,
    summary: `Get a ${kind} key pair, without its secret`,
    tags,
    params: ApplicationParams,
    item: ApplicationView,
    view: viewApplication,
    activity: APPLICATION_ACTIVITY,
    get: (request) => applications.get(ownerOf(request), request.params.client_id),
  });

  registerPatch(api, `${path}/:client_id`, {
    access: write,
    operationId: `update${owner}Application`,
    summary: 'Change name, scopes or IP allowlist; issued tokens stay unchanged',
    tags,
    params: ApplicationParams,
    body: ApplicationChanges,
    errors: [422],
    item: ApplicationView,
    view: viewApplication,
    activity: APPLICATION_ACTIVITY,
    change: (request, precondition) =>
      applications.update(
        actorOf(request),
        ownerOf(request),
        request.params.client_id,
        request.body,
        request.caller.scopes,
        precondition,
      ),
  });

  api.delete(
    `${path}/:client_id`,
    {
      config: remove.config,
      schema: {
        ...remove.documented,
        operationId: `delete${owner}Application`,
        summary: 'Delete a key pair and revoke its tokens on every node',
        tags,
        params: ApplicationParams,
        response: answers({ 204: { type: 'null' } }, 401, 403, 404, 413, 415),
      },
    },
    async (request, reply) => {
      unwrap(await applications.remove(actorOf(request), ownerOf(request), request.params.client_id));
      return reply.code(204).send();
    },
  );
}

/** An Organization's key pair works in both environments, a bank's only in the environment of the bank. */
function change(kind: Owner['kind'], types: readonly TokenType[]) {
  const access = withFreshProof(requires(types, `${kind}_applications:write`));
  return kind === 'organization' ? inBothEnvironments(access) : access;
}

function registerCreation(api: HttpServer, deps: ApplicationRoutesDeps): void {
  const { applications, organizations, allowlistPolicy } = deps;
  const route = {
    summary: 'Create a key pair; only this response has the client_secret',
    tags: ['Applications'],
    item: CreatedApplicationView,
    view: viewCreated,
    errors: [404],
    showsSecret: true,
  } as const;

  registerCreate(api, '/organization_applications', {
    ...route,
    access: change('organization', ['user']),
    operationId: 'createOrganizationApplication',
    body: NewApplication,
    create: (request, recordAnswer) => {
      const { organizationGuid, environment } = request.caller;
      const owner = { organizationGuid, environment };
      return applications.create(actorOf(request), owner, request.body, allowlistPolicy, recordAnswer);
    },
  });

  registerCreate(api, '/bank_applications', {
    ...route,
    access: change('bank', ['user']),
    operationId: 'createBankApplication',
    body: NewBankApplication,
    create: async (request, recordAnswer) => {
      const { organizationGuid, environment } = request.caller;
      const { bank_guid: bankGuid, ...input } = request.body;
      const bank = await organizations.findBank(organizationGuid, bankGuid, environment);
      if (isFailure(bank)) return bank;
      const owner = { organizationGuid, bank };
      return applications.create(actorOf(request), owner, input, allowlistPolicy, recordAnswer);
    },
  });
}
