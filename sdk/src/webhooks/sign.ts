import { bytesOf, concat, HMAC, rawBytesOf } from './bytes.ts';

/**
 * The headers with which Portico signs a webhook: for tests of an endpoint, and for tools that forward events.
 */
export async function signWebhook(
  body: string | Uint8Array | ArrayBuffer,
  signingKey: string,
  { guid, at = new Date() }: { guid: string; at?: Date },
): Promise<Record<string, string>> {
  const bytes = rawBytesOf(body);
  if (!bytes) throw new TypeError('body must be a string or bytes');
  const timestamp = `${Math.floor(at.getTime() / 1_000)}`;
  const key = await crypto.subtle.importKey('raw', bytesOf(signingKey), HMAC, false, ['sign']);
  const sign = async (content: Uint8Array<ArrayBuffer>) =>
    new Uint8Array(await crypto.subtle.sign('HMAC', key, content));
  const standard = await sign(concat(bytesOf(`${guid}.${timestamp}.`), bytes));
  return {
    'content-type': 'application/json',
    'x-service-signature': Array.from(await sign(bytes), (byte) => byte.toString(16).padStart(2, '0')).join(
      '',
    ),
    'webhook-id': guid,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${btoa(String.fromCharCode(...standard))}`,
  };
}
