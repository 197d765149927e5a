import type { Failure } from '../../../infrastructure/runtime/failure.ts';
import type { EndpointError } from './error-store.ts';
import type { EndpointHealth, SubscriptionHealth } from './health.ts';
import type { HealthViewed, Timeline } from './health-schema.ts';
import { viewWaiting } from './waiting-schema.ts';

export function viewHealth(subscription: SubscriptionHealth): HealthViewed {
  const { deliveries_failing_since: since, recovered_at: recoveredAt, nextAttemptAt, errors } = subscription;
  const [last] = errors;
  return {
    subscription_guid: subscription.guid,
    name: subscription.name,
    host: new URL(subscription.url).host,
    environment: subscription.environment,
    state: subscription.state,
    health: subscription.health,
    ...(since ? { failing_since: since.toISOString() } : {}),
    ...(recoveredAt && !since ? { recovered_at: recoveredAt.toISOString() } : {}),
    ...viewWaiting([subscription.waiting]),
    ...(nextAttemptAt ? { next_attempt_at: nextAttemptAt.toISOString() } : {}),
    ...(last ? { last_error: viewError(last) } : {}),
    errors: errors
      .filter(({ failingSince }) => failingSince.getTime() === since?.getTime())
      .toSorted((a, b) => b.count - a.count)
      .map(({ kind, status, count }) => ({ kind, ...(status === 0 ? {} : { status }), count })),
  };
}

function viewError(error: EndpointError): NonNullable<HealthViewed['last_error']> {
  return {
    at: error.lastAt.toISOString(),
    kind: error.kind,
    ...(error.status === 0 ? {} : { status: error.status }),
    ...(error.excerpt ? { excerpt: error.excerpt } : {}),
    ...(error.reason ? { reason: error.reason } : {}),
    delivery_guid: error.deliveryGuid,
    attempt_number: error.attemptNumber,
  };
}

type StoredTimeline = Exclude<Awaited<ReturnType<EndpointHealth['timeline']>>, Failure>;

export function viewTimeline({ range, periods, changes }: StoredTimeline): Timeline {
  return {
    range,
    periods: periods.map(({ from, to, health }) => ({
      from: from.toISOString(),
      to: to.toISOString(),
      health,
    })),
    changes: changes.map(({ at, kind }) => ({ at: at.toISOString(), kind })),
  };
}
