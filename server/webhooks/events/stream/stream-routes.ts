import type { Freezes } from '../../../credentials/organizations/freezes.ts';
import { unwrap } from '../../../infrastructure/http/errors.ts';
import { values } from '../../../infrastructure/http/requests/filters.ts';
import { answers } from '../../../infrastructure/http/requests/schemas.ts';
import type { HttpServer } from '../../../infrastructure/http/server.ts';
import { Failure } from '../../../infrastructure/runtime/failure.ts';
import { requires, tokenCheckOf, withFeature } from '../../../tokens/access/access.ts';
import type { Verifier } from '../../../tokens/verifying/verifier.ts';
import { STREAM_HEADERS } from '../../streams.ts';
import { visibleEnvironments } from '../../visible.ts';
import type { Events } from '../service.ts';
import type { EventStreams } from './event-streams.ts';
import { type Position, parsePosition, positionAt } from './position.ts';
import { EventStreamView, StreamHeaders, StreamQuery } from './stream-schema.ts';

type Deps = { events: Events; eventStreams: EventStreams; verifier: Verifier; freezes: Freezes };

export function registerEventStream(
  api: HttpServer,
  { events, eventStreams, verifier, freezes }: Deps,
): void {
  const read = withFeature('webhooks', requires(['organization', 'user'], 'subscription_events:read'));

  api.addHook('preClose', async () => eventStreams.stop());

  api.get(
    '/subscription_events/stream',
    {
      config: { ...read.config, isStream: true },
      schema: {
        ...read.documented,
        operationId: 'streamEvents',
        summary: 'Stream events and resent events, each at least once',
        tags: ['Events'],
        headers: StreamHeaders,
        querystring: StreamQuery,
        response: answers({ 200: EventStreamView }, 400, 401, 403, 422, 503),
      },
    },
    async (request, reply) => {
      const { caller, query, headers } = request;
      const eventType = values(query.event_type);
      unwrap(events.refusalOf({ eventType }));
      const start = unwrap(startOf(headers['last-event-id'] as string | undefined, query.since));
      // HEAD must not open a stream.
      if (request.method === 'HEAD') return reply.headers(STREAM_HEADERS).send('');
      const stream = await eventStreams.open(
        {
          organizationGuid: caller.organizationGuid,
          environments: visibleEnvironments(caller, values(query.environment)),
          types: eventType && new Set(eventType),
          isAllowed: tokenCheckOf(request, verifier, freezes),
        },
        start,
      );
      return reply.headers(STREAM_HEADERS).send(unwrap(stream));
    },
  );
}

function startOf(lastEventId: string | undefined, since: string | undefined): Position | Failure | undefined {
  if (lastEventId) {
    const position = parsePosition(lastEventId);
    return (
      position ?? new Failure('invalid_parameter', 'Last-Event-ID must be the id of a message of this stream')
    );
  }
  return since === undefined ? undefined : positionAt(new Date(since));
}
