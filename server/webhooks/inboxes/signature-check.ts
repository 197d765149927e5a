import { createHmac } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { isEqualInConstantTime } from '../../infrastructure/runtime/constant-time.ts';
import { type SigningKey, signingKeyOf } from '../deliveries/sending/signature.ts';
import type { Endpoint } from '../subscriptions/service.ts';

/** `missing`: the request has neither signature header. */
export const SIGNATURES = ['valid', 'invalid', 'missing'] as const;
export type Signature = (typeof SIGNATURES)[number];

/** Checks both headers of a request against the keys of the subscriptions that deliver to the inbox. */
export function checkSignature(
  { headers, body }: { headers: IncomingHttpHeaders; body: Buffer },
  endpoints: readonly Endpoint[],
): { signature: Signature; subscriptionGuid: string | undefined } {
  const own = textOf(headers['x-service-signature']);
  const standard = textOf(headers['webhook-signature']);
  if (own === undefined && standard === undefined)
    return { signature: 'missing', subscriptionGuid: undefined };
  const signed = `${textOf(headers['webhook-id'])}.${textOf(headers['webhook-timestamp'])}.`;
  const signer = endpoints.find((endpoint) => {
    const key = signingKeyOf(endpoint.signingKey());
    if (own !== undefined && !isEqual(own, hmac(key, body).toString('hex'))) return false;
    const expected = `v1,${hmac(key, signed, body).toString('base64')}`;
    return standard === undefined || standard.split(' ').some((given) => isEqual(given, expected));
  });
  return { signature: signer ? 'valid' : 'invalid', subscriptionGuid: signer?.guid };
}

function textOf(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}

function hmac(key: SigningKey, ...parts: readonly (string | Buffer)[]): Buffer {
  const digest = createHmac('sha256', key);
  for (const part of parts) digest.update(part);
  return digest.digest();
}

function isEqual(given: string, expected: string): boolean {
  return isEqualInConstantTime(Buffer.from(given), Buffer.from(expected));
}
