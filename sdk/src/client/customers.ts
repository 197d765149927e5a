import { ApiError } from '../errors.ts';
import type { Resources } from '../generated/resources.ts';
import type { Scope } from '../generated/scopes.ts';
import { createResource } from './resources.ts';
import type { Token } from './tokens.ts';
import type { RequestOptions, Transport } from './transport.ts';

export type Customers = Resources['customers'] & {
  /**
   * A token for the device of a customer, which sees only the objects of this customer. The client needs the scopes
   * `customers:read`, `customers:write` and every scope that it grants.
   */
  token(customerGuid: string, options: { scopes: readonly Scope[] } & RequestOptions): Promise<Token>;
};

export function createCustomers(transport: Transport): Customers {
  const issue = async (body: object, options: RequestOptions) =>
    (await transport.json<Token>({ ...options, method: 'POST', path: '/api/customer_tokens', body })).data;
  return {
    ...createResource<Resources['customers']>(transport, 'customers'),
    async token(customer_guid, { scopes, ...options }) {
      const body = { customer_guid, scopes };
      try {
        return await issue(body, options);
      } catch (error) {
        // A retry found that a token had been issued, and its answer was lost: that token expires, another one is harmless.
        if (!(error instanceof ApiError) || error.messageCode !== 'idempotency_secret_shown') throw error;
        return issue(body, options);
      }
    },
  };
}
