import { values } from '../../../infrastructure/http/requests/filters.ts';
import { answers } from '../../../infrastructure/http/requests/schemas.ts';
import type { HttpServer } from '../../../infrastructure/http/server.ts';
import { requires, withFeature } from '../../../tokens/access/access.ts';
import type { DeliveryStatistics } from './statistics.ts';
import { StatisticsQuery, StatisticsView } from './statistics-schema.ts';

export function registerDeliveryStatistics(
  api: HttpServer,
  { statistics }: { statistics: DeliveryStatistics },
): void {
  const read = withFeature('webhooks', requires(['organization', 'user'], 'subscription_events:read'));

  api.get(
    '/delivery_statistics',
    {
      config: { ...read.config, readsMany: true },
      schema: {
        ...read.documented,
        operationId: 'getDeliveryStatistics',
        summary: 'Get the event and delivery statistics of the last hour, day or week',
        tags: ['Deliveries'],
        querystring: StatisticsQuery,
        response: answers({ 200: StatisticsView }, 400, 401, 403, 422),
      },
    },
    async ({ caller, query }) =>
      statistics.read(caller, {
        range: query.range ?? '1h',
        subscriptionGuid: values(query.subscription_guid),
        environment: values(query.environment),
      }),
  );
}
