import { viewSchema } from '../../infrastructure/http/requests/schemas.ts';
import { EventView } from '../events/schema.ts';

const { created_at: _, ...body } = EventView.properties;

function header(name: string, description: string) {
  return { name, in: 'header' as const, required: true, description, schema: { type: 'string' as const } };
}

/** The `webhooks` section of the OpenAPI document. */
export const WEBHOOKS = {
  event: {
    post: {
      operationId: 'receiveEvent',
      summary: 'An event; respond with any 2xx within two seconds',
      tags: ['Events'],
      parameters: [
        header(
          'X-Service-Signature',
          'HMAC-SHA-256 of the raw body with the signing key, as lowercase hexadecimal characters',
        ),
        header('webhook-id', 'The guid of the event, the same for every attempt'),
        header('webhook-timestamp', 'Unix time of the attempt in seconds'),
        header('webhook-signature', 'Standard Webhooks signature of id, timestamp and body'),
      ],
      requestBody: {
        required: true,
        content: { 'application/json': { schema: viewSchema('WebhookEvent', body) } },
      },
      responses: {
        '2XX': { description: 'Delivered. The first kilobyte of the body is stored with the attempt.' },
        default: { description: 'Not delivered. The service retries for seven days.' },
      },
    },
  },
};
