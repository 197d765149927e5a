import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';
import type { Secret } from '../../../infrastructure/runtime/secret.ts';
import { version } from '../../../infrastructure/runtime/version.ts';

export type SigningKey = KeyObject;

const USER_AGENT = `Portico-Webhooks/${version}`;

/** The key is the 64 hex characters as they are written, not the 32 bytes that they could stand for. */
export function signingKeyOf(secret: Secret): SigningKey {
  return createSecretKey(secret.reveal(), 'ascii');
}

/**
 * Signed twice: over the body alone, and as Standard Webhooks has it (standardwebhooks.com), where the
 * signed moment lets the endpoint refuse an old delivery that someone sends again.
 */
export function signedHeaders({
  key,
  eventGuid,
  body,
  at,
}: {
  key: SigningKey;
  eventGuid: string;
  body: string;
  at: Date;
}): Record<string, string> {
  const timestamp = Math.floor(at.getTime() / 1_000).toString();
  const signature = createHmac('sha256', key).update(`${eventGuid}.${timestamp}.`).update(body);
  return {
    'content-type': 'application/json',
    'user-agent': USER_AGENT,
    'x-service-signature': createHmac('sha256', key).update(body).digest('hex'),
    'webhook-id': eventGuid,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${signature.digest('base64')}`,
  };
}
