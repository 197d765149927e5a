import type { Endpoint } from '../../subscriptions/service.ts';
import { bodyOf } from '../delivery.ts';
import { signedHeaders, signingKeyOf } from '../sending/signature.ts';
import type { AttemptRequest, StoredAttempt, StoredDelivery } from '../state.ts';

/** The parts of a request that the caller may see. */
export type RequestRights = { url: boolean; signatures: boolean };

const SIGNATURES: readonly string[] = ['x-service-signature', 'webhook-signature'];
/** Deliveries that a lane held when the URL changed may still have been sent to the previous one. */
const URL_CHANGE_MARGIN_MS = 60_000;

export function requestBodyOf(delivery: StoredDelivery): string {
  return bodyOf({
    eventGuid: delivery.event_guid,
    organizationGuid: delivery.organization_guid,
    bankGuid: delivery.bank_guid,
    eventType: delivery.event_type,
    objectGuid: delivery.object_guid,
    environment: delivery.environment,
  });
}

/**
 * The request of an attempt. Signatures are computed again: the body and the key of a subscription never change, and a
 * recorded attempt has the signed time. A first attempt that succeeded has no row, so its signed time is not known.
 */
export function requestOf(
  delivery: StoredDelivery,
  attempt: StoredAttempt & { isRecorded: boolean },
  endpoint: Endpoint | undefined,
  rights: RequestRights,
): AttemptRequest {
  const url = attempt.url ?? presentUrlOf(endpoint, attempt.attempted_at);
  const headers = headersAt(delivery, endpoint, attempt.attempted_at);
  const { 'user-agent': _, ...others } = headers;
  const known = Object.entries({
    ...others,
    ...(attempt.user_agent === null ? {} : { 'user-agent': attempt.user_agent }),
  }).filter(([name]) => attempt.isRecorded || (name !== 'webhook-timestamp' && name !== 'webhook-signature'));
  const shown = known.filter(([name]) => rights.signatures || !SIGNATURES.includes(name));
  const knownNames = new Set(known.map(([name]) => name));
  return {
    url: url === undefined || rights.url ? url : new URL(url).origin,
    headers: Object.fromEntries(shown),
    hidden: [
      ...(url === undefined || rights.url ? [] : ['url']),
      ...known.map(([name]) => name).filter((name) => !rights.signatures && SIGNATURES.includes(name)),
    ],
    notRecorded: [
      ...(url === undefined ? ['url'] : []),
      ...(attempt.address === null ? ['address'] : []),
      ...HEADER_NAMES.filter((name) => !knownNames.has(name)),
      ...(attempt.response_status !== null && attempt.response_headers === null ? ['response_headers'] : []),
    ],
  };
}

const HEADER_NAMES: readonly string[] = [
  'content-type',
  'user-agent',
  'x-service-signature',
  'webhook-id',
  'webhook-timestamp',
  'webhook-signature',
];

/** Without signatures if the key cannot be decrypted. */
export function headersAt(
  delivery: StoredDelivery,
  endpoint: Endpoint | undefined,
  at: Date,
): Record<string, string> {
  const body = requestBodyOf(delivery);
  try {
    if (endpoint) {
      const key = signingKeyOf(endpoint.signingKey());
      return signedHeaders({ key, eventGuid: delivery.event_guid, body, at });
    }
  } catch {
    // As if the subscription were gone.
  }
  return { 'content-type': 'application/json', 'webhook-id': delivery.event_guid };
}

function presentUrlOf(endpoint: Endpoint | undefined, attemptedAt: Date): string | undefined {
  if (!endpoint) return undefined;
  const changedAt = endpoint.urlChangedAt?.getTime() ?? Number.NEGATIVE_INFINITY;
  return attemptedAt.getTime() > changedAt + URL_CHANGE_MARGIN_MS ? endpoint.url : undefined;
}
