import Type from 'typebox';
import { CustomerName, CustomerType, CustomerView, viewCustomer } from '../customers/schema.ts';
import type { Customers } from '../customers/service.ts';
import { unwrap } from '../http/errors.ts';
import { answers, Guid, GuidParams, strictObject } from '../http/schemas.ts';
import type { HttpServer } from '../http/server.ts';
import { type OperatorAuthentication, security } from './authentication.ts';

export type ObjectDeps = { authentication: OperatorAuthentication; customers: Customers };

const ReportedCustomer = strictObject({
  bank_guid: Guid,
  details: strictObject({ type: CustomerType, name: Type.Optional(CustomerName) }),
});

/** What the platform's core reports about its objects: here the customers, in both environments. */
export function registerObjectRoutes(scope: HttpServer, { authentication, customers }: ObjectDeps): void {
  scope.put(
    '/objects/customer/:guid',
    {
      schema: {
        operationId: 'operator.objects.put_customer',
        summary: 'Report a customer; the same report twice changes nothing',
        tags: ['Operator: objects'],
        security,
        params: GuidParams,
        body: ReportedCustomer,
        response: answers({ 200: CustomerView }, 400, 401, 403, 404, 413, 415, 422),
      },
    },
    async (request) => {
      const { bank_guid: bankGuid, details } = request.body;
      const actor = authentication.actor(request);
      return viewCustomer(
        unwrap(await customers.report(actor, request.params.guid, { bankGuid, ...details })),
      );
    },
  );
}
