import type { Readable } from 'node:stream';
import Type from 'typebox';
import {
  environmentsFilter,
  guidsFilter,
  wordsFilter,
} from '../../../infrastructure/http/requests/filters.ts';
import { strictObject, Timestamp } from '../../../infrastructure/http/requests/schemas.ts';
import { DeliveryView } from '../schema.ts';

export const LiveQuery = strictObject({
  subscription_guid: guidsFilter,
  state: wordsFilter,
  environment: environmentsFilter,
});

const { guid, subscription_guid, subscription_event_guid, event_type, environment, state } =
  DeliveryView.properties;
const { failure_kind, response_status } = DeliveryView.properties;

export const LiveAttemptView = Type.Object(
  {
    ...{ guid, subscription_guid, subscription_event_guid, event_type, environment, state },
    ...{ failure_kind, response_status },
    response_time_ms: Type.Integer({ description: 'Duration of the attempt in milliseconds', example: 87 }),
    attempted_at: Timestamp,
  },
  {
    title: 'LiveAttempt',
    description:
      'The `data` of each message. A message with the event `dropped` has {"dropped": n}: n attempts were left out',
    example: { response_status: 200 },
  },
);

/** A stream of server-sent events; the schema describes one message. */
export const LiveStreamView = {
  'x-response-description': 'A stream of server-sent events that ends when the token expires.',
  content: { 'text/event-stream': { schema: Type.Unsafe<Readable | ''>(LiveAttemptView) } },
};
