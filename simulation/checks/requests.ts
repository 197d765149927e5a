import { createHmac } from 'node:crypto';
import type { Owner } from '../machine/scheduler.ts';
import type { Received } from '../network/endpoints.ts';
import type { Model, Request } from '../world/model.ts';

/** Invariants 3 and 4, at each request. */
const FIRST_DELAYS_MS = [2_000, 4_000, 8_000];
const JITTER = 0.1;
/** Clocks of two nodes differ by at most this; 1 ms is lost by rounding. */
const MAX_SKEW_MS = 801;
const RETRY_PERIOD_MS = 7 * 24 * 3_600_000;
/** Many times what a node without faults needs to write an outcome. */
const RECORDED_AFTER_MS = 4_000;
/** Waiting deliveries become due one page after another, after a success of their endpoint. */
const RECOVERY_MS = 20_000;
/** A node reads a changed endpoint before its next claim. */
const STOP_GRACE_MS = 1;

/** The endpoint's own checks: whose event is it, is it signed, are the bytes right? */
export function checkArrival(model: Model, { url, headers, body, number }: Received): void {
  const subscription = model.byUrl(url);
  const about = `request ${number} to ${url}`;
  model.check(subscription !== undefined, () => `${about}: no subscription has this URL`);
  if (!subscription) return;
  const content = JSON.parse(body) as Record<string, string>;
  model.check(
    content.organization_guid === subscription.organizationGuid,
    () => `${about}: an event of another Organization`,
  );
  model.check(content.environment === subscription.environment, () => `${about}: another environment`);
  model.check(headers['webhook-id'] === content.guid, () => `${about}: webhook-id is not the event`);
  const isFirst =
    content.event_type === 'subscription.storing' &&
    content.object_guid === (subscription.guid ?? content.object_guid);
  model.check(
    isFirst || model.requests.some((each) => each.url === url && each.succeeded),
    () => `${about}: ${content.event_type} before the first 2xx`,
  );
  const known = model.events.get(String(content.guid));
  if (known) model.check(known.body === body, () => `${about}: the body differs from the event: ${body}`);
  const { signingKey } = subscription;
  if (signingKey === undefined) return;
  const expected = createHmac('sha256', signingKey).update(body).digest('hex');
  model.check(headers['x-service-signature'] === expected, () => `${about}: the signature is wrong`);
  const signed = createHmac('sha256', signingKey).update(
    `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`,
  );
  model.check(
    headers['webhook-signature'] === `v1,${signed.digest('base64')}`,
    () => `${about}: the Standard Webhooks signature is wrong`,
  );
}

/** Whether the node may send this now, by what it and the others have sent before. */
export function checkSend(
  model: Model,
  request: Request,
  { maxDelayMs, leaseOf }: { maxDelayMs: number; leaseOf(node: Owner): string | undefined },
): void {
  const { url, eventGuid, at } = request;
  const subscription = model.byUrl(url);
  const about = `${request.node.name} sends ${eventGuid} to ${url}`;
  model.check(request.lease !== undefined, () => `${about} without a lease`);
  for (const { from, to } of subscription?.stops ?? [])
    model.check(
      at <= from + STOP_GRACE_MS || at >= to,
      () => `${about} ${Math.round(at - from)} ms after it was disabled or paused`,
    );
  const deletionAt = subscription?.deletionAt;
  if (deletionAt !== undefined)
    model.check(
      at <= deletionAt + MAX_SKEW_MS + model.clockErrorMs(deletionAt, at),
      () => `${about} after its deletion`,
    );
  const key = model.keyOf(url, eventGuid);
  const redeliveries = model.requestedDeliveries(url, eventGuid, at);
  const earlier = (model.requestsOf.get(key) ?? []).filter((each) => each !== request);
  const previous = earlier.at(-1);
  if (!previous) return;
  /** Others take over from a node that believes in its lease because of its clock. */
  const hasWrongClock = (from: number, to: number) => model.clockErrorMs(from, to) > MAX_SKEW_MS;
  /** A node records each outcome, unless a fault came before that, and it was killed or lost its lease. */
  const isAbandoned = ({ node, lease, at: from, endedAt = at }: Request) =>
    (node.isDead || lease === undefined || leaseOf(node) !== lease || hasWrongClock(from, endedAt)) &&
    !model.wasUndisturbed(from, endedAt + RECORDED_AFTER_MS);
  const unrecorded = (each: Request) => each.endedAt === undefined || isAbandoned(each);
  const successes = earlier.filter((each) => each.succeeded && !unrecorded(each));
  model.check(
    successes.length <= redeliveries,
    () => `${about} after a success at ${successes.map(({ node }) => node.name).join(', ')}`,
  );
  // A request does not tell which delivery of its event it belongs to.
  if (redeliveries > 0) return;
  for (const each of earlier)
    model.check(
      each.endedAt !== undefined || isAbandoned(each),
      () => `${about} while ${each.node.name} sends it`,
    );
  if (earlier.some(({ succeeded }) => succeeded)) model.duplicates.add(request);
  const { endedAt } = previous;
  if (endedAt === undefined || unrecorded(previous)) return;
  const skewMs = MAX_SKEW_MS + model.clockErrorMs(endedAt, at);
  const number = earlier.filter((each) => !unrecorded(each)).length;
  // A Retry-After of the old URL does not hold deliveries back from a new one.
  const pauseMs = previous.url === url ? Math.min(previous.retryAfterMs, maxDelayMs) : 0;
  // A recovery, a resume or a new URL makes waiting deliveries due at once, but not during a Retry-After.
  const isEarly =
    subscription?.resumptions.some(({ from, to }) => to >= previous.at && from <= at) ||
    model.requests.some(
      (each) => each.url === url && each.succeeded && Number(each.endedAt) >= previous.at - RECOVERY_MS,
    );
  const scheduledMs = FIRST_DELAYS_MS[number - 1] ?? maxDelayMs * (1 - JITTER);
  const delayMs = isEarly ? pauseMs : Math.max(scheduledMs, pauseMs);
  model.check(
    at - endedAt >= delayMs - skewMs,
    () => `${about} ${Math.round(at - endedAt)} ms after attempt ${number} had failed, before ${delayMs} ms`,
  );
  const first = earlier[0];
  if (first) model.check(at - first.at <= RETRY_PERIOD_MS + skewMs, () => `${about} after seven days`);
}
