import { unwrap } from '../infrastructure/http/errors.ts';
import { answers } from '../infrastructure/http/requests/schemas.ts';
import type { HttpServer } from '../infrastructure/http/server.ts';
import type { Ingest } from '../webhooks/events/ingest.ts';
import { AcceptedEvents, ReportedEvents } from '../webhooks/events/schema.ts';
import { security } from './authentication.ts';

/** 1,000 events with every field, indented. */
const MAX_EVENTS_BYTES = 1024 ** 2;

export type EventDeps = { ingest: Ingest };

export function registerEventRoutes(scope: HttpServer, { ingest }: EventDeps): void {
  scope.post(
    '/events',
    {
      bodyLimit: MAX_EVENTS_BYTES,
      schema: {
        operationId: 'operatorCreateEvents',
        'x-command': 'events create',
        summary: 'Create events of the platform; idempotent by guid',
        tags: ['Operator: events'],
        security,
        body: ReportedEvents,
        response: answers({ 202: AcceptedEvents }, 400, 401, 403, 409, 413, 415, 422),
      },
    },
    async (request, reply) => reply.code(202).send(unwrap(await ingest.accept(request.body.events))),
  );
}
