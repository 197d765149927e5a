import { BankChanges, BankView, NewBank, viewBank } from '../credentials/organizations/schema.ts';
import type { Organizations } from '../credentials/organizations/service.ts';
import { unwrap } from '../infrastructure/http/errors.ts';
import { environmentsFilter, values } from '../infrastructure/http/requests/filters.ts';
import { envelope, listOf, listQuery, pageOf } from '../infrastructure/http/requests/paging.ts';
import { answers, GuidParams } from '../infrastructure/http/requests/schemas.ts';
import type { HttpServer } from '../infrastructure/http/server.ts';
import { type OperatorAuthentication, security } from './authentication.ts';

export type BankDeps = { authentication: OperatorAuthentication; organizations: Organizations };

export function registerBankRoutes(scope: HttpServer, { authentication, organizations }: BankDeps): void {
  const tags = ['Operator: banks'];

  scope.post(
    '/organizations/:guid/banks',
    {
      schema: {
        operationId: 'operatorCreateBank',
        'x-command': 'banks create',
        summary: 'Create a Bank of an Organization; emits bank.created',
        tags,
        security,
        params: GuidParams,
        body: NewBank,
        response: answers({ 201: BankView }, 400, 401, 403, 404, 413, 415),
      },
    },
    async (request, reply) => {
      const actor = authentication.actor(request);
      const bank = unwrap(await organizations.createBank(actor, request.params.guid, request.body));
      return reply.code(201).send(viewBank(bank));
    },
  );

  scope.get(
    '/organizations/:guid/banks',
    {
      schema: {
        operationId: 'operatorListBanks',
        'x-command': 'banks list',
        summary: 'List the Banks of an Organization',
        tags,
        security,
        params: GuidParams,
        querystring: listQuery({ environment: environmentsFilter }),
        response: answers({ 200: listOf(BankView) }, 400, 401, 403, 404),
      },
    },
    async (request) => {
      const page = unwrap(pageOf(request.query));
      const environment = values(request.query.environment);
      const banks = unwrap(await organizations.listBanks(request.params.guid, page, { environment }));
      return envelope(page, banks, viewBank);
    },
  );

  scope.get(
    '/banks/:guid',
    {
      schema: {
        operationId: 'operatorGetBank',
        'x-command': 'banks get',
        summary: 'Get a Bank',
        tags,
        security,
        params: GuidParams,
        response: answers({ 200: BankView }, 401, 403, 404),
      },
    },
    async (request) => viewBank(unwrap(await organizations.getBank(request.params.guid))),
  );

  scope.patch(
    '/banks/:guid',
    {
      schema: {
        operationId: 'operatorUpdateBank',
        'x-command': 'banks update',
        summary: 'Rename a Bank; emits bank.updated',
        tags,
        security,
        params: GuidParams,
        body: BankChanges,
        response: answers({ 200: BankView }, 400, 401, 403, 404, 413, 415),
      },
    },
    async (request) => {
      const actor = authentication.actor(request);
      return viewBank(unwrap(await organizations.updateBank(actor, request.params.guid, request.body)));
    },
  );
}
