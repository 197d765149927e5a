import { BEHAVIOURS } from '../agenda/behaviours.ts';
import type { WindowKind } from '../agenda/part-actions.ts';
import { checkWindow, eventsInWindow } from '../checks/redelivered.ts';
import { type ModelSubscription, startResumption } from '../world/model.ts';
import type { World } from '../world/world.ts';
import { type Calls, isOk, isRefused } from './calls.ts';

const POLL_MS = 500;
const POLLS = 20;
/** A redelivery goes on after the faults of nodes. */
const LATE_POLL_MS = 10_000;
const MAX_POLLS = 60;

/** The endpoint moves to another URL, which answers. Not twice at a time: answers do not tell which URL came last. */
export async function moveEndpoint(
  world: World,
  calls: Calls,
  subscription: ModelSubscription,
  node: number,
): Promise<void> {
  if (subscription.isMoving) return;
  subscription.isMoving = true;
  await move(world, calls, subscription, node);
  subscription.isMoving = false;
}

async function move(
  { scheduler, endpoints }: World,
  { callAsFounder, nodeAt }: Calls,
  subscription: ModelSubscription,
  node: number,
): Promise<void> {
  const url = `${subscription.urls[0]}/${subscription.urls.length}`;
  endpoints.behave(url, scheduler.now(), BEHAVIOURS.healthy());
  subscription.urls.push(url);
  // Waiting deliveries become due when the new URL has answered.
  const from = scheduler.now();
  const endResumption = startResumption(subscription, scheduler.now);
  const result = await callAsFounder(nodeAt(node), subscription.organizationGuid, {
    ...{ method: 'PATCH', url: `/api/subscriptions/${subscription.guid}`, payload: { url } },
  });
  endResumption();
  subscription.restarts.push({ from, to: scheduler.now(), isSure: isOk(result) });
  if (!isOk(result)) return;
  subscription.left.set(subscription.url, scheduler.now());
  subscription.url = url;
}

/** Redelivers a time window. Until the job has ended, each delivery in it may become due at any time. */
export async function redeliverWindow(
  world: World,
  { callAsFounder, nodeAt, pause, look }: Calls,
  subscription: ModelSubscription,
  { node, kind, ageMs }: { node: number; kind: WindowKind; ageMs: number },
): Promise<void> {
  const { model, scheduler, side, sleep } = world;
  const { guid, url, organizationGuid } = subscription;
  const since = new Date(scheduler.now() - ageMs);
  const events = await look(() => eventsInWindow(world, { guid, kind, since }));
  const endResumption = kind === 'waiting' ? startResumption(subscription, scheduler.now) : undefined;
  // Failed deliveries of the window may be redeliveries of older events.
  const from = kind === 'failed' ? 0 : since.getTime();
  const forget = kind === 'waiting' ? undefined : model.redeliverSince(url, from, scheduler.now());
  const answer = await callAsFounder(nodeAt(node), organizationGuid, {
    ...{ method: 'POST', url: '/api/subscription_recoveries' },
    payload: { subscription_guid: guid, kind, since: since.toISOString() },
  });
  if (isRefused(answer)) forget?.();
  for (let polls = 0; polls < MAX_POLLS; polls += 1) {
    await (polls < POLLS ? pause(POLL_MS) : sleep(LATE_POLL_MS));
    const { rows } = await look(() =>
      side.query(
        `select 1 from subscription_recoveries
         where subscription_guid = $1 and completed_at is null and failed_at is null`,
        [guid],
      ),
    );
    if (rows.length > 0) continue;
    endResumption?.();
    if (isOk(answer)) await look(() => checkWindow(world, String(answer.body.guid), events));
    return;
  }
  model.check(false, () => `a redelivery to ${url} does not end`);
}
