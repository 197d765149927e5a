import { actorOf, requires } from '../http/access.ts';
import { unwrap } from '../http/errors.ts';
import {
  createdAtFilters,
  environmentsFilter,
  guidsFilter,
  moment,
  values,
  wordsFilter,
} from '../http/filters.ts';
import { envelope, listOf, listQuery, pageOf } from '../http/paging.ts';
import { answers, GuidParams } from '../http/schemas.ts';
import type { HttpServer } from '../http/server.ts';
import { CustomerView, NewCustomer, viewCustomer } from './schema.ts';
import type { Customers } from './service.ts';

export function registerCustomers(api: HttpServer, { customers }: { customers: Customers }): void {
  const tags = ['Customers'];
  const create = requires(['organization', 'bank', 'user'], 'customers:execute');
  const read = requires(['organization', 'bank', 'customer', 'user'], 'customers:read');

  api.post(
    '/customers',
    {
      config: create.config,
      schema: {
        ...create.documented,
        operationId: 'customers.create',
        summary: 'Create a customer (sandbox only)',
        tags,
        body: NewCustomer,
        response: answers({ 201: CustomerView }, 400, 401, 403, 413, 415, 422),
      },
    },
    async (request, reply) => {
      const customer = unwrap(await customers.create(actorOf(request), request.caller, request.body));
      return reply.code(201).send(viewCustomer(customer));
    },
  );

  api.get(
    '/customers',
    {
      config: read.config,
      schema: {
        ...read.documented,
        operationId: 'customers.list',
        summary: 'List the customers that the token may see',
        tags,
        querystring: listQuery({
          guid: guidsFilter,
          type: wordsFilter,
          bank_guid: guidsFilter,
          environment: environmentsFilter,
          ...createdAtFilters,
        }),
        response: answers({ 200: listOf(CustomerView) }, 400, 401, 403),
      },
    },
    async (request) => {
      const { caller, query } = request;
      const page = unwrap(pageOf(query));
      const found = await customers.list(caller, page, {
        guid: values(query.guid),
        type: values(query.type),
        bankGuid: values(query.bank_guid),
        environment: values(query.environment),
        createdAtGte: moment(query.created_at_gte),
        createdAtLt: moment(query.created_at_lt),
      });
      return envelope(page, found, viewCustomer);
    },
  );

  api.get(
    '/customers/:guid',
    {
      config: read.config,
      schema: {
        ...read.documented,
        operationId: 'customers.get',
        summary: 'Get a customer',
        tags,
        params: GuidParams,
        response: answers({ 200: CustomerView }, 401, 403, 404),
      },
    },
    async (request) => viewCustomer(unwrap(await customers.get(request.caller, request.params.guid))),
  );
}
