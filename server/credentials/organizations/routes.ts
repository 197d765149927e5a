import { unwrap } from '../../infrastructure/http/errors.ts';
import {
  createdAtFilters,
  environmentsFilter,
  guidsFilter,
  moment,
  values,
} from '../../infrastructure/http/requests/filters.ts';
import { envelope, listOf, listQuery, pageOf } from '../../infrastructure/http/requests/paging.ts';
import { answers, GuidParams } from '../../infrastructure/http/requests/schemas.ts';
import type { HttpServer } from '../../infrastructure/http/server.ts';
import { actorOf, requires } from '../../tokens/access/access.ts';
import { BankChanges, BankView, NewSandboxBank, viewBank } from './schema.ts';
import type { Organizations } from './service.ts';

/** The Banks as their partner sees them; the operator's calls make the same changes. */
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
        summary: 'Create a Bank (sandbox only); emits bank.created',
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

  api.get(
    '/banks',
    {
      config: read.config,
      schema: {
        ...read.documented,
        operationId: 'listBanks',
        summary: 'List the Banks that the token may see',
        tags,
        querystring: listQuery({
          guid: guidsFilter,
          environment: environmentsFilter,
          ...createdAtFilters,
        }),
        response: answers({ 200: listOf(BankView) }, 400, 401, 403),
      },
    },
    async (request) => {
      const { caller, query } = request;
      const page = unwrap(pageOf(query));
      const banks = await organizations.listVisibleBanks(caller, page, {
        guid: values(query.guid),
        environment: values(query.environment),
        createdAtGte: moment(query.created_at_gte),
        createdAtLt: moment(query.created_at_lt),
      });
      return envelope(page, banks, viewBank);
    },
  );

  api.get(
    '/banks/:guid',
    {
      config: read.config,
      schema: {
        ...read.documented,
        operationId: 'getBank',
        summary: 'Get a Bank',
        tags,
        params: GuidParams,
        response: answers({ 200: BankView }, 401, 403, 404),
      },
    },
    async (request) =>
      viewBank(unwrap(await organizations.getVisibleBank(request.caller, request.params.guid))),
  );

  api.patch(
    '/banks/:guid',
    {
      config: write.config,
      schema: {
        ...write.documented,
        operationId: 'updateBank',
        summary: 'Rename a Bank; emits bank.updated',
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
