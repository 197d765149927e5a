import type { Readable } from 'node:stream';
import Type, { type Static } from 'typebox';
import {
  DATE_TIME_PATTERN,
  environmentsFilter,
  wordsFilter,
} from '../../../infrastructure/http/requests/filters.ts';
import { Guid, strictObject, Timestamp, viewSchema } from '../../../infrastructure/http/requests/schemas.ts';
import { EventView, viewEvent } from '../schema.ts';
import type { StreamedEvent } from './stream-store.ts';

export const StreamQuery = strictObject({
  event_type: wordsFilter,
  environment: environmentsFilter,
  since: Type.Optional(
    Type.String({
      format: 'date-time',
      pattern: DATE_TIME_PATTERN,
      description:
        'Begins with the events created at this time or later; without it, with new events. Ignored with Last-Event-ID',
      example: '2026-11-15T00:00:00Z',
    }),
  ),
});

export const StreamHeaders = Type.Object({
  'Last-Event-ID': Type.Optional(
    Type.String({ description: 'The id of the last message received: the stream continues after it' }),
  ),
});

const ResendView = viewSchema('EventResend', {
  subscription_delivery_guid: Guid,
  subscription_guid: Guid,
  created_at: Timestamp,
});

const StreamedEventView = Type.Object(
  {
    ...EventView.properties,
    resend: Type.Optional({ ...ResendView, description: 'The redelivery that repeats the event' }),
  },
  { title: 'StreamedEvent', description: 'The `data` of each message' },
);

/** A stream of server-sent events; the schema describes one message. */
export const EventStreamView = {
  'x-response-description':
    'A stream of server-sent events that ends when the token expires; reconnect with Last-Event-ID. Messages without data update the id.',
  content: { 'text/event-stream': { schema: Type.Unsafe<Readable | ''>(StreamedEventView) } },
};

export function viewStreamedEvent(event: StreamedEvent): Static<typeof StreamedEventView> {
  const { position, resent_at: resentAt, subscription_guid: subscriptionGuid } = event;
  if (!resentAt || !subscriptionGuid) return viewEvent(event);
  return {
    ...viewEvent(event),
    resend: {
      subscription_delivery_guid: position,
      subscription_guid: subscriptionGuid,
      created_at: resentAt.toISOString(),
    },
  };
}
