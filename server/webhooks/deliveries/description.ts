import Type from 'typebox';
import { EventView } from '../events/schema.ts';

const { created_at: _, ...body } = EventView.properties;

function header(name: string, description: string) {
  return { name, in: 'header' as const, required: true, description, schema: { type: 'string' as const } };
}

/** The `webhooks` section of the OpenAPI document. */
export const WEBHOOKS = {
  event: {
    post: {
      operationId: 'event',
      summary: 'An event; respond with any 2xx within two seconds',
      tags: ['Events'],
      parameters: [
        header(
          'X-Service-Signature',
          'lowercase hex of the HMAC-SHA-256 of the raw body under the signing key',
        ),
        header('webhook-id', 'guid of the event, the same on every attempt'),
        header('webhook-timestamp', 'Unix time of this attempt in seconds'),
        header('webhook-signature', 'Standard Webhooks signature of id, timestamp and body'),
      ],
      requestBody: {
        required: true,
        content: { 'application/json': { schema: Type.Object(body) } },
      },
      responses: {
        '2XX': {
          description:
            'Delivered. The first kilobyte of the response body is stored and shown with the attempt.',
        },
        default: { description: 'Not delivered; retried for seven days.' },
      },
    },
  },
};
