import { type WebhookCheck, WebhookVerificationError } from '../../../sdk/src/webhooks/error.ts';
import { parseEvent } from '../../../sdk/src/webhooks/event.ts';
import { verifyWebhook } from '../../../sdk/src/webhooks/verify.ts';
import { parseRequest } from './parse-request.ts';

export type SignatureResult = { outcome: 'valid' | 'expired' | 'invalid'; title: string; detail: string };
type Request = { headers: Record<string, string>; body: string; keys: readonly string[] };

const FIELDS = [
  'guid',
  'organization_guid',
  'bank_guid',
  'event_type',
  'object_guid',
  'environment',
] as const;
const SIGNING_KEY = /^[0-9a-f]{64}$/;

/** Runs the checks of the SDK on a pasted request, and finds the most likely cause of a mismatch. */
export async function checkSignature(
  pasted: { headers: string; body: string; signingKey: string },
  now = Date.now(),
): Promise<SignatureResult> {
  const keys = pasted.signingKey.split(/[\s,]+/).filter((key) => key !== '');
  const { headers, body } = parseRequest(pasted.headers, pasted.body);
  const request = { headers, body, keys };
  const check = await runChecks(request, now);
  // A line break at the end is usually of the copy, not of the request.
  const trimmed = { ...request, body: body.replace(/[\r\n]+$/, '') };
  if (check !== 'signature_mismatch' || trimmed.body === body) return resultOf(check, request, now);
  const result = await resultOf(await runChecks(trimmed, now), trimmed, now);
  if (result.outcome === 'invalid') return result;
  return { ...result, detail: `${result.detail} The line break at the end of the pasted body was ignored.` };
}

/** The check that failed; undefined if all have passed. */
async function runChecks(
  { headers, body, keys }: Request,
  now: number,
  toleranceSeconds = 300,
): Promise<WebhookCheck | undefined> {
  try {
    await verifyWebhook(body, headers, keys, { now: () => now, toleranceSeconds, requireTimestamp: false });
    return undefined;
  } catch (error) {
    if (error instanceof WebhookVerificationError) return error.check;
    throw error;
  }
}

async function resultOf(
  check: WebhookCheck | undefined,
  request: Request,
  now: number,
): Promise<SignatureResult> {
  const { headers } = request;
  switch (check) {
    case undefined:
      return {
        outcome: 'valid',
        title: 'Signature valid',
        detail:
          headers['webhook-timestamp'] === undefined
            ? 'X-Service-Signature matches the body. It has no time: use webhook-signature to refuse old requests.'
            : 'The signing key signed exactly this body, and the timestamp is within 5 minutes.',
      };
    case 'signing_key_missing':
      return invalid('Signing key missing', 'Enter the signing key of the subscription.');
    case 'signature_missing':
      return missingHeader(headers);
    case 'signature_malformed':
      return invalid(
        'Signature malformed',
        'X-Service-Signature has 64 lowercase hexadecimal characters; webhook-signature has the form v1,<base64>. Check that the header was copied completely.',
      );
    case 'timestamp_malformed':
      return invalid('Timestamp malformed', 'webhook-timestamp is a Unix time in seconds.');
    case 'timestamp_too_old':
    case 'timestamp_too_new':
      return expired(check, Number(headers['webhook-timestamp']), now / 1_000);
    case 'event_malformed':
      return invalid('Not an event', 'The signature is valid, but the body is not an event of Portico.');
    default:
      return explainMismatch(request, now);
  }
}

function missingHeader(headers: Record<string, string>): SignatureResult {
  const standard = ['webhook-id', 'webhook-timestamp', 'webhook-signature'];
  const missing = standard.filter((name) => headers[name] === undefined);
  return invalid(
    missing.length === 1 ? 'Header missing' : 'Headers missing',
    missing.length === standard.length
      ? 'The headers contain neither webhook-signature nor X-Service-Signature. Paste one header per line, for example webhook-id: 01a1….'
      : `The headers do not contain ${missing.join(' and ')}. A proxy may have removed them.`,
  );
}

function expired(check: WebhookCheck, timestamp: number, now: number): SignatureResult {
  const minutes = Math.round(Math.abs(now - timestamp) / 60);
  const isOld = check === 'timestamp_too_old';
  return {
    outcome: 'expired',
    title: isOld ? 'Timestamp older than 5 minutes' : 'Timestamp more than 5 minutes in the future',
    detail: isOld
      ? `The signature is valid. The request was sent ${agoOf(minutes)} ago, so an endpoint refuses it now. This is expected for a request from a log.`
      : `The signature is valid, but webhook-timestamp is ${agoOf(minutes)} ahead of the clock of this computer.`,
  };
}

function agoOf(minutes: number): string {
  if (minutes < 120) return `${minutes} minutes`;
  return minutes < 48 * 60 ? `${Math.round(minutes / 60)} hours` : `${Math.round(minutes / 1_440)} days`;
}

/** No key signed these bytes: tries what the request would be without a change that software commonly makes. */
async function explainMismatch(request: Request, now: number): Promise<SignatureResult> {
  const { headers, body, keys } = request;
  const matches = async (changed: Partial<Request>) =>
    (await runChecks({ ...request, ...changed }, now, Number.POSITIVE_INFINITY)) === undefined;
  const event = parseEvent(body);
  const original = event && JSON.stringify(Object.fromEntries(FIELDS.map((name) => [name, event[name]])));
  if (original !== undefined && original !== body && (await matches({ body: original })))
    return invalid(
      'Body changed',
      'The JSON was reformatted: the signature matches the same values without extra spaces, line breaks or another order of fields. Verify the raw bytes, before any parser.',
    );
  const signature = headers['x-service-signature'];
  if (signature !== undefined && (await matches({ headers: { 'x-service-signature': signature } })))
    return invalid(
      'Header changed',
      'The signing key and the body are correct (X-Service-Signature matches), but webhook-id, webhook-timestamp or webhook-signature was changed.',
    );
  const malformed = keys.find((key) => !SIGNING_KEY.test(key));
  if (malformed !== undefined)
    return invalid(
      'Wrong signing key',
      `A signing key has 64 lowercase hexadecimal characters; this one has ${malformed.length} characters${malformed.length === 64 ? ', some of them others' : ''}.`,
    );
  const change = event ? changeOf(request, event.guid, original) : 'It is not a complete JSON event.';
  if (change !== undefined)
    return invalid('Body changed', `The body is not the one that was sent. ${change}`);
  return invalid(
    'Wrong signing key',
    'The body looks unchanged, so this is probably the key of another subscription, or the old key after a roll. A changed value in the body has the same effect.',
  );
}

function changeOf({ headers, body }: Request, guid: string, original?: string): string | undefined {
  const sent = headers['content-length'];
  const bytes = new TextEncoder().encode(body).length;
  if (sent !== undefined && Number(sent) !== bytes)
    return `Content-Length is ${sent}, but the pasted body has ${bytes} bytes.`;
  const id = headers['webhook-id'];
  if (id !== undefined && id !== guid) return `Its guid is ${guid}, but webhook-id is ${id}.`;
  return original === body
    ? undefined
    : 'It has other spaces, line breaks or fields than a webhook of Portico.';
}

function invalid(title: string, detail: string): SignatureResult {
  return { outcome: 'invalid', title, detail };
}
