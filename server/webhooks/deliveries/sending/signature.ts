import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';
import type { Secret } from '../../../infrastructure/runtime/secret.ts';
import { version } from '../../../infrastructure/runtime/version.ts';

export type SigningKey = KeyObject;

export const USER_AGENT = `Portico-Webhooks/${version}`;

/** The key is the 64 hex characters as ASCII, not the 32 bytes they encode. */
export function signingKeyOf(secret: Secret): SigningKey {
  return createSecretKey(secret.reveal(), 'ascii');
}

/**
 * Two signatures: over the body alone, and per Standard Webhooks (standardwebhooks.com), whose signed timestamp lets
 * the endpoint reject replays.
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
