import Type, { type Static } from 'typebox';
import { guidsFilter, wordsFilter } from '../../infrastructure/http/requests/filters.ts';
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
    description:
      'A UUIDv7 of the last 7 days, at most 5 minutes ahead, that makes retries idempotent. Generated when absent',
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

const Count = Type.Integer({ minimum: 0, example: 0 });
const DeliveryCountsView = viewSchema('EventDeliveryCounts', {
  total: {
    ...Count,
    description: 'Subscriptions that the event was sent to, or is to be sent to',
    example: 3,
  },
  completed: { ...Count, description: 'Those that received it', example: 2 },
  storing: Count,
  failing: Count,
  failed: Count,
});

export const ListedEventView = viewSchema('ListedEvent', {
  ...EventView.properties,
  delivery_counts: Type.Optional({
    ...DeliveryCountsView,
    description:
      'With include=delivery_counts: subscriptions by the state of their delivery; the newest counts, unless an earlier one was completed',
  }),
});

export const eventStatusFilters = {
  delivery_state: Type.Optional({
    ...wordsFilter,
    description:
      'Events with a subscription whose delivery is in this state: storing, failing, completed or failed, or several separated by commas. Then events are in the order of their newest such delivery, a page may have fewer objects than per_page while next is present, total may include events that were delivered later, and page is not accepted',
  }),
  subscription_guid: Type.Optional({
    ...guidsFilter,
    description: 'Events with a delivery to this subscription, or up to 100 separated by commas',
  }),
  include: Type.Optional({
    ...wordsFilter,
    description: 'delivery_counts adds the deliveries of each event by state',
    example: 'delivery_counts',
  }),
};

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

export function viewListedEvent({
  deliveryCounts,
  ...event
}: Event & { deliveryCounts?: Static<typeof DeliveryCountsView> | undefined }): Static<
  typeof ListedEventView
> {
  return { ...viewEvent(event), ...(deliveryCounts && { delivery_counts: deliveryCounts }) };
}
