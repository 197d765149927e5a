import { unwrap } from '../../infrastructure/http/errors.ts';
import {
  createdAtFilters,
  environmentsFilter,
  guidsFilter,
  updatedAtFilters,
} from '../../infrastructure/http/requests/filters.ts';
import { registerGet, registerList } from '../../infrastructure/http/requests/resource-routes.ts';
import { answers, GuidParams } from '../../infrastructure/http/requests/schemas.ts';
import type { HttpServer } from '../../infrastructure/http/server.ts';
import { actorOf, requires } from '../../tokens/access/access.ts';
import { BankChanges, BankView, NewSandboxBank, viewBank } from './schema.ts';
import type { Organizations } from './service.ts';

/** Banks, for partners. */
export function registerBanks(api: HttpServer, { organizations }: { organizations: Organizations }): void {
  const tags = ['Banks'];
  const create = requires(['organization', 'user'], 'banks:execute');
  const read = requires(['organization', 'bank', 'user'], 'banks:read');
  const write = requires(['organization', 'bank', 'user'], 'banks:write');

  api.post(
    '/banks',
    {
      config: create.config,
      schema: {
        ...create.documented,
        operationId: 'createBank',
        summary: 'Create a Bank (sandbox only). Emits bank.created',
        tags,
        body: NewSandboxBank,
        response: answers({ 201: BankView }, 400, 401, 403, 413, 415, 422),
      },
    },
    async (request, reply) => {
      const bank = await organizations.createSandboxBank(actorOf(request), request.caller, request.body);
      return reply.code(201).send(viewBank(unwrap(bank)));
    },
  );

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

  api.patch(
    '/banks/:guid',
    {
      config: write.config,
      schema: {
        ...write.documented,
        operationId: 'updateBank',
        summary: 'Rename a Bank. Emits bank.updated',
        tags,
        params: GuidParams,
        body: BankChanges,
        response: answers({ 200: BankView }, 400, 401, 403, 404, 413, 415),
      },
    },
    async (request) => {
      const { guid } = unwrap(await organizations.getVisibleBank(request.caller, request.params.guid));
      return viewBank(unwrap(await organizations.updateBank(actorOf(request), guid, request.body)));
    },
  );
}
