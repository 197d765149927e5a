import type { Queries } from '../../../infrastructure/database/database.ts';
import type { Clock } from '../../../infrastructure/runtime/clock.ts';
import { Failure } from '../../../infrastructure/runtime/failure.ts';
import type { Subscriptions } from '../../subscriptions/service.ts';
import type { DetailedAttempt, StoredAttempt, StoredDelivery } from '../state.ts';
import { selectAttempts } from '../store.ts';
import { headersAt, type RequestRights, requestBodyOf, requestOf } from './attempt-request.ts';
import { requesterOf } from './attempt-schema.ts';

/** A delivery retried for a week has about a thousand. */
const MAX_ATTEMPTS_SHOWN = 100;

export type SignedRequest = { url: string; headers: Record<string, string>; body: string };

type Deps = { queries: Queries; clock: Clock; subscriptions: Subscriptions };

/** Describes the requests and responses of deliveries. */
export function createAttempts({ queries, clock, subscriptions }: Deps) {
  return {
    async listOf(delivery: StoredDelivery, rights: RequestRights): Promise<DetailedAttempt[]> {
      const [stored, [endpoint]] = await Promise.all([
        selectAttempts(queries, delivery.guid, MAX_ATTEMPTS_SHOWN),
        subscriptions.endpoints([delivery.subscription_guid]),
      ]);
      const isRecorded = stored.length > 0;
      return (isRecorded ? stored : soleAttemptOf(delivery)).map((attempt) => ({
        ...attempt,
        request: requestOf(delivery, { ...attempt, isRecorded }, endpoint, rights),
        // Retries of a requested delivery are automatic.
        requestedBy: attempt.number === 1 ? requesterOf(delivery) : undefined,
      }));
    },

    /** The request as it would be sent now. */
    async signedRequestOf(delivery: StoredDelivery): Promise<SignedRequest | Failure> {
      const [endpoint] = await subscriptions.endpoints([delivery.subscription_guid]);
      if (!endpoint) return new Failure('not_found', 'There is no such delivery');
      const headers = headersAt(delivery, endpoint, clock.now());
      return { url: endpoint.url, headers, body: requestBodyOf(delivery) };
    },
  };
}

/** A successful first attempt has no row of its own. */
function soleAttemptOf(delivery: StoredDelivery): StoredAttempt[] {
  const { completed_at: completedAt, response_time_ms: durationMs } = delivery;
  if (completedAt === null) return [];
  const duration_ms = durationMs ?? 0;
  return [
    {
      delivery_guid: delivery.guid,
      number: delivery.attempt_count,
      attempted_at: new Date(completedAt.getTime() - duration_ms),
      duration_ms,
      outcome: 'completed',
      response_status: delivery.response_status,
      response_excerpt: delivery.response_excerpt,
      reason: null,
      url: null,
      address: null,
      user_agent: null,
      response_headers: null,
    },
  ];
}
