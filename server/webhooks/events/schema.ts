import Type, { type Static } from 'typebox';
import {
  EnvironmentName,
  Guid,
  strictObject,
  Timestamp,
} from '../../infrastructure/http/requests/schemas.ts';
import { EVENT_TYPES } from './catalogue.ts';
import type { Event } from './store.ts';

const MAX_EVENTS = 1_000;

const EventType = Type.Enum([...EVENT_TYPES], {
  description: 'type of the object and its new state, separated by a dot',
});

const ReportedEvent = strictObject({
  guid: Type.Optional({
    ...Guid,
    description: 'UUIDv7 of the last 7 days that makes a retry idempotent; generated when absent',
  }),
  organization_guid: Guid,
  bank_guid: Type.Optional(Guid),
  event_type: EventType,
  object_guid: Guid,
  environment: Type.Optional({
    ...EnvironmentName,
    description: 'production or sandbox; required without bank_guid, otherwise that of the bank',
  }),
});

export const ReportedEvents = strictObject({
  events: Type.Array(ReportedEvent, { minItems: 1, maxItems: MAX_EVENTS }),
});

export const AcceptedEvents = Type.Object({
  total: Type.Integer({ description: 'events in the request' }),
  created: Type.Integer({ description: 'events that did not exist before' }),
  guids: Type.Array(Guid, { description: 'in the order of the request' }),
});

export const EventView = Type.Object({
  guid: Guid,
  organization_guid: Guid,
  bank_guid: Type.Optional(Guid),
  event_type: Type.Unsafe<string>(EventType),
  object_guid: Guid,
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
