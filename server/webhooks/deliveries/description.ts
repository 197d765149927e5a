import Type from 'typebox';
import { EventView } from '../events/schema.ts';

const { created_at: _, ...body } = EventView.properties;

function header(name: string, description: string) {
  return { name, in: 'header' as const, required: true, description, schema: { type: 'string' as const } };
}

/** What endpoints get, for the OpenAPI document: a generator makes a endpoint of it. */
export const WEBHOOKS = {
  event: {
    post: {
      operationId: 'event',
      summary: 'Something happened; answer with any 2xx within two seconds',
      tags: ['Events'],
      parameters: [
        header(
          'X-Service-Signature',
          'lowercase hex of the HMAC-SHA-256 of the raw body under the signing key',
        ),
        header('webhook-id', 'the guid of the event, the same on every attempt'),
        header('webhook-timestamp', 'seconds since 1970 at which this attempt was made'),
        header('webhook-signature', 'the signature of Standard Webhooks over id, timestamp and body'),
      ],
      requestBody: {
        required: true,
        content: { 'application/json': { schema: Type.Object(body) } },
      },
      responses: {
        '2XX': { description: 'Delivered. The body is not looked at; its first kilobyte is kept for you.' },
        default: { description: 'Not delivered; it is sent again, for seven days.' },
      },
    },
  },
};
