import { BankControls, BankView, NewBank, viewBank } from '../credentials/organizations/schema.ts';
import type { Organizations } from '../credentials/organizations/service.ts';
import { unwrap } from '../infrastructure/http/errors.ts';
import { environmentsFilter } from '../infrastructure/http/requests/filters.ts';
import { registerGet, registerList, registerPatch } from '../infrastructure/http/requests/resource-routes.ts';
import { answers, GuidParams } from '../infrastructure/http/requests/schemas.ts';
import type { HttpServer } from '../infrastructure/http/server.ts';
import { type OperatorAuthentication, operatorAccess, security } from './authentication.ts';

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

  registerList(scope, '/organizations/:guid/banks', {
    access: operatorAccess('banks list'),
    operationId: 'operatorListBanks',
    summary: 'List the Banks of an Organization',
    tags,
    params: GuidParams,
    filters: { environment: environmentsFilter },
    errors: [404],
    item: BankView,
    view: viewBank,
    list: ({ params }, page, filters) => organizations.listBanks(params.guid, page, filters),
  });

  registerGet(scope, '/banks/:guid', {
    access: operatorAccess('banks get'),
    operationId: 'operatorGetBank',
    summary: 'Get a Bank',
    tags,
    item: BankView,
    view: viewBank,
    get: ({ params }) => organizations.getBank(params.guid),
  });

  registerPatch(scope, '/banks/:guid', {
    access: operatorAccess('banks update'),
    operationId: 'operatorUpdateBank',
    summary: 'Update a Bank: name, features, assets, symbols; emits bank.updated',
    tags,
    body: BankControls,
    item: BankView,
    view: viewBank,
    change: (request, precondition) =>
      organizations.updateBank(
        authentication.actor(request),
        request.params.guid,
        request.body,
        precondition,
      ),
  });
}
