import Type, { type Static } from 'typebox';
import {
  EnvironmentName,
  Guid,
  inputSchema,
  Timestamp,
  viewSchema,
} from '../../infrastructure/http/requests/schemas.ts';
import { EVENT_TYPES } from './catalogue.ts';
import type { Event } from './store.ts';

const MAX_EVENTS = 1_000;

const EventType = Type.Enum([...EVENT_TYPES], {
  title: 'EventType',
  description: 'The object type and what happened, separated by a dot',
  example: 'transfer.completed',
});

const ReportedEvent = inputSchema('ReportedEvent', {
  guid: Type.Optional({
    ...Guid,
    description: 'A UUIDv7 of the last 7 days that makes retries idempotent. Generated when absent',
  }),
  organization_guid: Guid,
  bank_guid: Type.Optional(Guid),
  event_type: EventType,
  object_guid: Guid,
  environment: Type.Optional({
    ...EnvironmentName,
    description: 'Required without bank_guid; with it, the environment of the bank',
  }),
});

export const ReportedEvents = inputSchema('ReportedEvents', {
  events: Type.Array(ReportedEvent, {
    minItems: 1,
    maxItems: MAX_EVENTS,
    description: '1 to 1,000 events',
  }),
});

export const AcceptedEvents = viewSchema('AcceptedEvents', {
  total: Type.Integer({ description: 'Events in the request' }),
  created: Type.Integer({ description: 'Events that were not known before' }),
  guids: Type.Array(Guid, { description: 'Guids of the events, in the order of the request' }),
});

export const EventView = viewSchema('Event', {
  guid: Guid,
  organization_guid: Guid,
  bank_guid: Type.Optional({ ...Guid, description: 'Absent for events of the Organization itself' }),
  event_type: Type.Unsafe<string>(EventType),
  object_guid: { ...Guid, description: 'The object that changed' },
  environment: EnvironmentName,
  created_at: Timestamp,
});

export function viewEvent(event: Event): Static<typeof EventView> {
  return {
    guid: event.guid,
    organization_guid: event.organization_guid,
    ...(event.bank_guid === null ? {} : { bank_guid: event.bank_guid }),
    event_type: event.event_type,
    object_guid: event.object_guid,
    environment: event.environment,
    created_at: event.created_at.toISOString(),
  };
}
