import type { Freezes } from '../../../credentials/organizations/freezes.ts';
import { unwrap } from '../../../infrastructure/http/errors.ts';
import { knownValues, values } from '../../../infrastructure/http/requests/filters.ts';
import { answers } from '../../../infrastructure/http/requests/schemas.ts';
import type { HttpServer } from '../../../infrastructure/http/server.ts';
import { requires, tokenCheckOf, withFeature } from '../../../tokens/access/access.ts';
import type { Verifier } from '../../../tokens/verifying/verifier.ts';
import { STREAM_HEADERS } from '../../streams.ts';
import { DELIVERY_STATES } from '../state.ts';
import { LiveQuery, LiveStreamView } from './live-schema.ts';
import type { LiveViewers } from './live-viewers.ts';

export function registerLiveDeliveries(
  api: HttpServer,
  { liveViewers, verifier, freezes }: { liveViewers: LiveViewers; verifier: Verifier; freezes: Freezes },
): void {
  const read = withFeature('webhooks', requires(['organization', 'user'], 'subscription_events:read'));

  api.addHook('preClose', async () => liveViewers.stop());

  api.get(
    '/subscription_deliveries/live',
    {
      config: { ...read.config, isStream: true },
      schema: {
        ...read.documented,
        operationId: 'watchDeliveries',
        summary: 'Stream delivery attempts of every node, at most 100 per second',
        tags: ['Deliveries'],
        querystring: LiveQuery,
        response: answers({ 200: LiveStreamView }, 400, 401, 403, 422, 503),
      },
    },
    async (request, reply) => {
      const { caller, query } = request;
      const filters = {
        environment: caller.environment,
        environments: values(query.environment),
        subscriptionGuid: values(query.subscription_guid),
        state: unwrap(knownValues('state', values(query.state), DELIVERY_STATES)),
      };
      // HEAD must not open a stream.
      if (request.method === 'HEAD') return reply.headers(STREAM_HEADERS).send('');
      const isAllowed = tokenCheckOf(request, verifier, freezes);
      const stream = unwrap(await liveViewers.open(caller.organizationGuid, filters, isAllowed));
      return reply.headers(STREAM_HEADERS).send(stream);
    },
  );
}
