import { BankControls, BankView, NewBank, viewBank } from '../credentials/organizations/schema.ts';
import type { Organizations } from '../credentials/organizations/service.ts';
import { environmentsFilter } from '../infrastructure/http/requests/filters.ts';
import { registerGet, registerList, registerPatch } from '../infrastructure/http/requests/resource-routes.ts';
import { GuidParams } from '../infrastructure/http/requests/schemas.ts';
import type { HttpServer } from '../infrastructure/http/server.ts';
import { registerCreate } from '../infrastructure/idempotency/create-routes.ts';
import { type OperatorAuthentication, operatorAccess } from './authentication.ts';

export type BankDeps = { authentication: OperatorAuthentication; organizations: Organizations };

export function registerBankRoutes(scope: HttpServer, { authentication, organizations }: BankDeps): void {
  const tags = ['Operator: banks'];

  registerCreate(scope, '/organizations/:guid/banks', {
    access: operatorAccess('banks create'),
    operationId: 'operatorCreateBank',
    summary: 'Create a Bank of an Organization; emits bank.created',
    tags,
    params: GuidParams,
    body: NewBank,
    errors: [404],
    item: BankView,
    view: viewBank,
    create: (request, recordAnswer) =>
      organizations.createBank(
        authentication.actor(request),
        request.params.guid,
        request.body,
        recordAnswer,
      ),
  });

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
