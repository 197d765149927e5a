import type { EnvironmentName, FailureKind } from '../../infrastructure/database/tables.ts';
import type { ExchangeDetails } from './sending/exchange.ts';
import type { NextAttempt } from './sending/schedule.ts';

/** A delivery with everything that an attempt needs, so that sending reads nothing from the database. */
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
  /** Claimed before it was due, because its endpoint has recovered. */
  isEarly: boolean;
  /** A person waits for its outcome. */
  isWatched?: boolean | undefined;
  /** Set instead of a queue row of its own. */
  batch?: DeliveryBatch | undefined;
};

/** A request for deliveries. The requester is a member, a key, or the recovery that creates them in the background. */
export type DeliveryRequest = {
  as: 'redelivery' | 'test_event' | 'recovery';
  by: { type: 'user' | 'application' | 'recovery'; id: string };
};

/** Deliveries that the process that created them sends directly, under one row of `delivery_batches`. */
export type DeliveryBatch = {
  readonly guid: string;
  /** Deliveries without a recorded outcome. */
  left: number;
};

/** The outcome of one attempt. */
export type Outcome = {
  delivery: Delivery;
  /** The request was sent to this URL. */
  url: string;
  result: 'completed' | FailureKind;
  attemptedAt: Date;
  endedAt: Date;
  durationMs: number;
  status: number | undefined;
  excerpt: string;
  /** Why there was no response, shown to partners. */
  reason: string | undefined;
  exchange?: (ExchangeDetails & { url: string }) | undefined;
} & NextAttempt;

/** A success has a row of `delivery_attempts` only after failures, or if a person waits for it. */
export function hasAttemptRow({ attemptCount, isWatched }: Delivery): boolean {
  return attemptCount > 0 || isWatched === true;
}

/** The request body: the fields of a SubscriptionEvent in fixed order, so that every attempt sends the same bytes. */
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
