import { type Bytes, bytesOf, concat, HMAC, rawBytesOf } from './bytes.ts';
import { type WebhookCheck, WebhookVerificationError } from './error.ts';
import { parseEvent, type WebhookEvent } from './event.ts';
import { headerOf, type WebhookHeaders } from './headers.ts';

export type VerifyOptions = {
  /** The greatest difference between `webhook-timestamp` and the time of this machine. Default: 300. */
  toleranceSeconds?: number;
  /** Refuse requests that have only `X-Service-Signature`, which has no time. Default: true. */
  requireTimestamp?: boolean;
  /** The present time in ms. Default: `Date.now`. */
  now?: () => number;
};

type Signed = { header: string; signatures: Bytes[]; content: Bytes };

const DEFAULT_TOLERANCE_SECONDS = 300;
/** Standard Webhooks allows several signatures; each costs one HMAC per key. */
const MAX_SIGNATURES = 5;
const HEX_SHA256 = /^[0-9a-f]{64}$/;
const BASE64_SHA256 = /^v1,[A-Za-z0-9+/]{43}=$/;

/**
 * Verifies a webhook and returns its event. `body` has the exact bytes of the request. `signingKeys` has several keys
 * while a key is rolled. Every signature that the request carries must be valid: the `webhook-` headers of Standard
 * Webhooks, and `X-Service-Signature`.
 *
 * @throws {WebhookVerificationError} `check` says which check failed. Answer with a status that is not 2xx.
 */
export async function verifyWebhook(
  body: string | Uint8Array | ArrayBuffer,
  headers: WebhookHeaders,
  signingKeys: string | readonly string[],
  {
    toleranceSeconds = DEFAULT_TOLERANCE_SECONDS,
    requireTimestamp = true,
    now = Date.now,
  }: VerifyOptions = {},
): Promise<WebhookEvent> {
  const bytes = rawBytesOf(body);
  if (!bytes)
    fail('body_not_raw', 'The body must be the raw bytes or text of the request, not a parsed value.');
  const keys = [signingKeys].flat() as string[];
  if (keys.length === 0 || keys.some((key) => typeof key !== 'string' || key === ''))
    fail('signing_key_missing', 'signingKeys must be one or more signing keys of subscriptions.');

  const timestamp = headerOf(headers, 'webhook-timestamp');
  const signed = [serviceSignature(headers, bytes), standardSignature(headers, timestamp, bytes)].filter(
    (each) => each !== undefined,
  );
  if (signed.length === 0)
    fail('signature_missing', 'The request has neither X-Service-Signature nor webhook-signature.');
  if (requireTimestamp && timestamp === undefined)
    fail('timestamp_missing', 'The request has no webhook-timestamp.');

  const verifiers = await Promise.all(
    keys.map((key) => crypto.subtle.importKey('raw', bytesOf(key), HMAC, false, ['verify'])),
  );
  for (const { header, signatures, content } of signed)
    if (!(await matchesAny(verifiers, signatures, content)))
      fail('signature_mismatch', `${header} is not a signature of this body by any of the signing keys.`);
  if (timestamp !== undefined) checkTime(Number(timestamp), now() / 1_000, toleranceSeconds);

  return (
    parseEvent(new TextDecoder().decode(bytes)) ??
    fail('event_malformed', 'The signature is valid, but the body is not an event.')
  );
}

function serviceSignature(headers: WebhookHeaders, body: Bytes): Signed | undefined {
  const header = 'X-Service-Signature';
  const value = headerOf(headers, header.toLowerCase());
  if (value === undefined) return undefined;
  if (!HEX_SHA256.test(value))
    fail('signature_malformed', `${header} must have 64 lowercase hexadecimal characters.`);
  const signature = Uint8Array.from({ length: 32 }, (_, index) =>
    Number.parseInt(value.slice(2 * index, 2 * index + 2), 16),
  );
  return { header, signatures: [signature], content: body };
}

function standardSignature(
  headers: WebhookHeaders,
  timestamp: string | undefined,
  body: Bytes,
): Signed | undefined {
  const header = 'webhook-signature';
  const id = headerOf(headers, 'webhook-id');
  const value = headerOf(headers, header);
  if (value === undefined && id === undefined && timestamp === undefined) return undefined;
  if (value === undefined || id === undefined || timestamp === undefined)
    fail('signature_missing', 'webhook-id, webhook-timestamp and webhook-signature belong together.');
  if (!/^\d{1,12}$/.test(timestamp))
    fail('timestamp_malformed', 'webhook-timestamp must be a Unix time in seconds.');
  const signatures = value
    .split(' ')
    .filter((part) => BASE64_SHA256.test(part))
    .slice(0, MAX_SIGNATURES)
    .map((part) => Uint8Array.from(atob(part.slice(3)), (character) => character.charCodeAt(0)));
  if (signatures.length === 0)
    fail('signature_malformed', `${header} must have a signature of the form v1,<base64>.`);
  return { header, signatures, content: concat(bytesOf(`${id}.${timestamp}.`), body) };
}

/** `crypto.subtle.verify` compares in constant time. */
async function matchesAny(keys: readonly CryptoKey[], signatures: readonly Bytes[], content: Bytes) {
  for (const key of keys)
    for (const signature of signatures)
      if (await crypto.subtle.verify('HMAC', key, signature, content)) return true;
  return false;
}

/** A tolerance that is not a number refuses every request. */
function checkTime(timestamp: number, now: number, tolerance: number): void {
  if (!(timestamp >= now - tolerance))
    fail('timestamp_too_old', `webhook-timestamp is more than ${tolerance} seconds in the past.`);
  if (timestamp > now + tolerance)
    fail('timestamp_too_new', `webhook-timestamp is more than ${tolerance} seconds in the future.`);
}

function fail(check: WebhookCheck, message: string): never {
  throw new WebhookVerificationError(check, message);
}
