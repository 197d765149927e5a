import type { Static } from 'typebox';
import type { HttpServer } from '../infrastructure/http/server.ts';
import { registerCreate } from '../infrastructure/idempotency/create-routes.ts';
import type { Ingest } from '../webhooks/events/ingest.ts';
import { AcceptedEvents, ReportedEvents } from '../webhooks/events/schema.ts';
import { operatorAccess } from './authentication.ts';

/** 1,000 events with every field, indented. */
const MAX_EVENTS_BYTES = 1024 ** 2;

export type EventDeps = { ingest: Ingest };

export function registerEventRoutes(scope: HttpServer, { ingest }: EventDeps): void {
  registerCreate(scope, '/events', {
    access: operatorAccess('events create'),
    bodyLimit: MAX_EVENTS_BYTES,
    operationId: 'operatorCreateEvents',
    summary: 'Create events of the platform; idempotent by guid',
    tags: ['Operator: events'],
    body: ReportedEvents,
    status: 202,
    item: AcceptedEvents,
    view: (accepted: Static<typeof AcceptedEvents>) => accepted,
    create: ({ body }, recordAnswer) => ingest.accept(body.events, recordAnswer),
  });
}
