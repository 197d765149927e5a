import { viewSchema } from '../../infrastructure/http/requests/schemas.ts';
import { EVENT_TYPES, type EventType } from '../events/catalogue.ts';
import { descriptionOf, objectOf } from '../events/descriptions.ts';
import { EventView } from '../events/schema.ts';

const { created_at: _, ...body } = EventView.properties;
const WebhookEvent = viewSchema('WebhookEvent', body);

const HEADERS = [
  header(
    'X-Service-Signature',
    'HMAC-SHA-256 of the raw body with the signing key, as lowercase hexadecimal characters',
  ),
  header('webhook-id', 'The guid of the event, the same for every attempt'),
  header('webhook-timestamp', 'Unix time of the attempt in seconds'),
  header('webhook-signature', 'Standard Webhooks signature of id, timestamp and body'),
];

function header(name: string, description: string) {
  return { name, in: 'header' as const, required: true, description, schema: { type: 'string' as const } };
}

/** The `webhooks` section of the OpenAPI document: the request of each event type, with a sample of its body. */
export const WEBHOOKS = Object.fromEntries(EVENT_TYPES.map((type) => [type, { post: requestOf(type) }]));

function requestOf(type: EventType) {
  return {
    operationId: `receive${type.replaceAll(/(?:^|[._])(\w)/g, (_, letter: string) => letter.toUpperCase())}`,
    summary: type,
    description: `${descriptionOf(type)} Respond with any 2xx within two seconds.`,
    tags: ['Event types'],
    parameters: HEADERS,
    requestBody: {
      required: true,
      content: { 'application/json': { schema: WebhookEvent, example: sampleOf(type) } },
    },
    responses: {
      '2XX': { description: 'Delivered. The first kilobyte of the body is stored with the attempt.' },
      default: { description: 'Not delivered. The service retries for seven days.' },
    },
  };
}

/** In the order of the fields in a delivery. */
function sampleOf(type: EventType) {
  const object = objectOf(type);
  const bankGuid = '0199e5a4b8c07a1d9e2f3a4b5c6d7e8f';
  return {
    guid: '0199e5a4c1b27d3e8f60a1b2c3d4e5f6',
    organization_guid: '0199e59f00017c3b8a4d5e6f70819203',
    // A subscription belongs to no bank.
    ...(object === 'subscription' ? {} : { bank_guid: bankGuid }),
    event_type: type,
    object_guid: object === 'bank' ? bankGuid : '0199e5a4c1a974c2b3d4e5f60718293a',
    environment: 'sandbox',
  };
}
