import type { Database } from '../../../infrastructure/database/database.ts';
import { Failure } from '../../../infrastructure/runtime/failure.ts';
import type { Endpoint, Subscriptions } from '../../subscriptions/service.ts';
import type { Visible } from '../../visible.ts';

/** Finds an endpoint of the caller that events can be redelivered to. */
export async function findDeliveringEndpoint(
  subscriptions: Subscriptions,
  visible: Visible,
  subscriptionGuid: string,
): Promise<Endpoint | Failure> {
  const [endpoint] = await subscriptions.endpoints([subscriptionGuid]);
  if (!endpoint || !isOwn(endpoint, visible))
    return new Failure('not_found', 'subscription_guid does not name a subscription of this Organization');
  if (endpoint.disabled)
    return new Failure(
      'delivery_not_retryable',
      'subscription_guid names a subscription that the operator has disabled; ask the operator, or use another subscription',
    );
  if (!endpoint.delivers)
    return new Failure(
      'delivery_not_retryable',
      'subscription_guid names a subscription that no longer delivers; create a new subscription',
    );
  return endpoint;
}

export async function findDeliveringEndpoints(
  { database, subscriptions }: { database: Database; subscriptions: Subscriptions },
  visible: Visible,
): Promise<Endpoint[]> {
  const endpoints = await database.transaction((transaction) =>
    subscriptions.endpointsOf(transaction, [visible.organizationGuid]),
  );
  return endpoints.filter((endpoint) => endpoint.delivers && isOwn(endpoint, visible));
}

function isOwn(endpoint: Endpoint, { organizationGuid, environment }: Visible): boolean {
  return (
    endpoint.organizationGuid === organizationGuid &&
    endpoint.environment === (environment ?? endpoint.environment)
  );
}
