import type { EndpointPlan } from '../agenda/agenda.ts';
import { BEHAVIOURS } from '../agenda/behaviours.ts';
import { guidAt } from '../machine/guids.ts';
import { type ModelSubscription, startResumption, type Tenant } from '../world/model.ts';
import type { World } from '../world/world.ts';
import { type Calls, isOk } from './calls.ts';
import { redeliverForeign } from './foreign.ts';
import { removeKey } from './keys.ts';

/** The calls of the platform's core, of operators and of partners, with what the model learns from their answers. */
const DAY_MS = 24 * 3_600_000;
/** The clock of a node differs from the virtual time by less. */
const SKEW_MS = 500;

export function createPartners(world: World, calls: Calls) {
  const { scheduler, model, endpoints } = world;
  const random = world.random.fork('partners');
  const { tenants } = model;
  let urls = 0;

  const { call, callAsFounder, callUntilAnswered, nodeAt, pause } = calls;

  async function createTenants(count: number): Promise<void> {
    for (let number = 1; number <= count; number += 1) {
      const features = ['webhooks', 'files'];
      const organization = await callUntilAnswered(0, {
        method: 'POST',
        url: '/operator/organizations',
        payload: { name: `Tenant ${number}`, features },
      });
      const organizationGuid = String(organization.body.guid);
      // The first Organization has both environments, so that an event of one could reach the other's endpoint.
      for (const environment of number === 1
        ? (['sandbox', 'production'] as const)
        : (['sandbox'] as const)) {
        const url = `/operator/organizations/${organizationGuid}/banks`;
        const bank = await callUntilAnswered(0, {
          method: 'POST',
          url,
          payload: { name: 'Bank', environment },
        });
        tenants.push({ organizationGuid, environment, bankGuid: String(bank.body.guid) });
      }
    }
  }

  /** The core repeats a call until it is acknowledged; events are idempotent by guid. */
  async function postEvents(tenantIndex: number, count: number, nodeIndex: number): Promise<void> {
    const { organizationGuid, environment, bankGuid } = tenants[tenantIndex % tenants.length] as Tenant;
    const calledAt = scheduler.now();
    const events = Array.from({ length: count }, () => ({
      guid: guidAt(calledAt, random.bytes(10)),
      organization_guid: organizationGuid,
      bank_guid: bankGuid,
      event_type: random.pick(['transfer.completed', 'trade.executed', 'plan.completed']),
      object_guid: random.bytes(16).toString('hex'),
    }));
    const entries = events.map((event) => ({
      ...{ guid: event.guid, organizationGuid, environment, body: JSON.stringify({ ...event, environment }) },
      ...{ calledAt, acknowledgedAt: undefined as number | undefined, settledAt: calledAt },
    }));
    for (const entry of entries) model.events.set(entry.guid, entry);
    const answer = await callUntilAnswered(nodeIndex, {
      method: 'POST',
      url: '/operator/events',
      payload: { events },
    });
    model.check(answer.status === 202, () => `events were refused: ${JSON.stringify(answer)}`);
    for (const entry of entries) {
      entry.acknowledgedAt = scheduler.now();
      entry.settledAt = scheduler.now();
    }
  }

  async function subscribe(tenantIndex: number, nodeIndex: number, plan: EndpointPlan): Promise<void> {
    const { organizationGuid, environment } = tenants[tenantIndex % tenants.length] as Tenant;
    urls += 1;
    const url = `https://e${urls}.example/hook`;
    const entry: ModelSubscription = {
      ...{ url, urls: [url], left: new Map(), isMoving: false },
      ...{ organizationGuid, environment, calledAt: scheduler.now() },
      ...{ guid: undefined, signingKey: undefined, createdAt: undefined, stops: [] },
      ...{ mayHaveStopped: false, restartedAt: 0 },
      ...{ resumptions: [], restarts: [] },
      ...{ protectedAt: undefined, deletionCalledAt: undefined, deletionAt: undefined },
    };
    model.subscriptions.push(entry);
    endpoints.behave(url, scheduler.now(), BEHAVIOURS[plan]());
    const answer = await call(nodeAt(nodeIndex), {
      ...{ method: 'POST', url: `/operator/organizations/${organizationGuid}/subscriptions` },
      payload: { type: 'webhook', name: 'Hook', url, environment },
    });
    if (!isOk(answer)) return;
    entry.guid = String(answer.body.guid);
    entry.signingKey = String(answer.body.signing_key);
    entry.createdAt = scheduler.now();
  }

  const known = () => model.subscriptions.filter(({ guid }) => guid !== undefined);
  const picked = (pick: number) => known()[pick % Math.max(1, known().length)];

  async function change(
    pick: number,
    nodeIndex: number,
    kind: 'disable' | 'enable' | 'protect' | 'pause' | 'resume',
  ): Promise<void> {
    const subscription = picked(pick);
    if (!subscription) return;
    const node = nodeAt(nodeIndex);
    const stops = kind === 'disable' || kind === 'pause';
    const calledAt = scheduler.now();
    const wasStopped = subscription.stops.some(({ to }) => to === Number.POSITIVE_INFINITY);
    if (stops) subscription.mayHaveStopped = true;
    if (kind === 'enable' || kind === 'resume') {
      subscription.restartedAt = calledAt;
      for (const stop of subscription.stops) stop.to = Math.min(stop.to, calledAt);
    }
    const endResumption =
      stops || kind === 'protect' ? undefined : startResumption(subscription, scheduler.now);
    const byPartner = kind === 'pause' || kind === 'resume';
    const payload = {
      ...{ disable: { disabled: true }, enable: { disabled: false }, protect: { protection_enabled: true } },
      ...{ pause: { paused: true }, resume: { paused: false } },
    }[kind];
    const url = byPartner
      ? `/api/subscriptions/${subscription.guid}`
      : `/operator/subscriptions/${subscription.guid}`;
    const options = { method: 'PATCH', url, payload } as const;
    const result = await (byPartner
      ? callAsFounder(node, subscription.organizationGuid, options)
      : call(node, options));
    endResumption?.();
    // Nothing changes if it was not stopped, which the model may not know.
    if (!stops && kind !== 'protect')
      subscription.restarts.push({ from: calledAt, to: scheduler.now(), isSure: isOk(result) && wasStopped });
    if (!isOk(result)) return;
    if (kind === 'protect') {
      subscription.protectedAt ??= scheduler.now();
      return remove(subscription, nodeIndex + 1);
    }
    // A call that ends it again may have come before the answer.
    if (!stops) subscription.restartedAt = scheduler.now();
    else if (subscription.restartedAt < calledAt)
      subscription.stops.push({ from: scheduler.now(), to: Number.POSITIVE_INFINITY });
  }

  async function remove(subscription: ModelSubscription | undefined, nodeIndex: number): Promise<void> {
    if (!subscription) return;
    const { protectedAt } = subscription;
    subscription.deletionCalledAt ??= scheduler.now();
    const url = `/operator/subscriptions/${subscription.guid}`;
    const result = await call(nodeAt(nodeIndex), { method: 'DELETE', url });
    if (!isOk(result)) return;
    model.check(
      protectedAt === undefined || subscription.deletionCalledAt < protectedAt,
      () => `${subscription.url} is deleted although it is protected`,
    );
    const deletionAt = Date.parse(String(result.body.scheduled_deletion_at));
    const calledAt = subscription.deletionCalledAt;
    const skewMs = SKEW_MS + model.clockErrorMs(calledAt, scheduler.now());
    model.check(
      deletionAt >= calledAt + DAY_MS - skewMs && deletionAt <= scheduler.now() + DAY_MS + skewMs,
      () => `${subscription.url} is deleted ${deletionAt - scheduler.now()} ms after the answer`,
    );
    subscription.deletionAt = deletionAt;
  }

  /** One event of the subscription again. */
  async function redeliver(pick: number, nodeIndex: number): Promise<void> {
    const subscription = picked(pick);
    const event = [...model.events.values()].filter(
      (each) =>
        each.organizationGuid === subscription?.organizationGuid &&
        each.environment === subscription.environment,
    )[pick % 7];
    if (!subscription?.guid || !event) return;
    model.redeliver(subscription.url, event.guid, scheduler.now());
    await callAsFounder(nodeAt(nodeIndex), subscription.organizationGuid, {
      ...{ method: 'POST', url: '/api/subscription_deliveries' },
      payload: { subscription_event_guid: event.guid, subscription_guid: subscription.guid },
    });
  }

  const replaceKey = (tenantIndex: number, node: number, isSudden: boolean) =>
    removeKey(world, call, tenants[tenantIndex % tenants.length] as Tenant, { node, isSudden, pause });

  const redeliverForeignEvent = (pick: number, nodeIndex: number) =>
    redeliverForeign(world, callAsFounder, picked(pick), nodeAt(nodeIndex), pick);

  return {
    createTenants,
    postEvents,
    subscribe,
    change,
    remove,
    redeliver,
    replaceKey,
    redeliverForeignEvent,
    picked,
  };
}
