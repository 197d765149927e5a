import type { EnvironmentName, FailureKind } from '../../infrastructure/database/tables.ts';

/** A delivery with all that an attempt needs, so that sending reads nothing from the database. */
export type Delivery = {
  guid: string;
  subscriptionGuid: string;
  organizationGuid: string;
  environment: EnvironmentName;
  eventGuid: string;
  bankGuid: string | null;
  eventType: string;
  objectGuid: string;
  attemptCount: number;
  createdAt: Date;
  /** Taken before it was due, because its endpoint has recovered. */
  isEarly: boolean;
  /** Instead of a place of its own in the queue. */
  batch?: DeliveryBatch | undefined;
};

/** Deliveries that their maker sends at once, under one row of the database. */
export type DeliveryBatch = {
  readonly guid: string;
  /** Not written down yet. */
  left: number;
};

/** What one attempt came to. */
export type Outcome = {
  delivery: Delivery;
  result: 'completed' | FailureKind;
  attemptedAt: Date;
  endedAt: Date;
  durationMs: number;
  status: number | undefined;
  excerpt: string;
  /** Why there was no answer, in words. */
  reason: string | undefined;
  /** The endpoint asked for a pause. */
  isPaused: boolean;
  /** When to try again; undefined once there is nothing left to try. */
  nextAttemptAt: Date | undefined;
  /** The URL that answered 2xx to the first delivery, and so activates its subscription. */
  provenUrl?: string | undefined;
};

/**
 * The body: the six fields of a SubscriptionEvent in this order, one without a value left out. It is made anew
 * for each attempt from values that never change, so every attempt sends the same bytes.
 */
export function bodyOf(
  delivery: Pick<
    Delivery,
    'eventGuid' | 'organizationGuid' | 'bankGuid' | 'eventType' | 'objectGuid' | 'environment'
  >,
): string {
  return JSON.stringify({
    guid: delivery.eventGuid,
    organization_guid: delivery.organizationGuid,
    bank_guid: delivery.bankGuid ?? undefined,
    event_type: delivery.eventType,
    object_guid: delivery.objectGuid,
    environment: delivery.environment,
  });
}
