import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { after } from 'node:test';
import { createTestApp, type TestApp } from './app.ts';
import { createTestDatabase } from './database.ts';
import { createFakeClock } from './fake-clock.ts';
import { createReceiver, hold, type Receiver } from './receiver.ts';
import { createSubscription, type SubscriptionBody } from './subscriptions.ts';
import { createTenant, type Tenant, userToken } from './tenant.ts';

/** What tests of the dispatcher say often: start it, look at what it did, and compare it with what arrived. */

type Options = NonNullable<Parameters<typeof createTestApp>[0]>;
type Request = Receiver['received'][number];
type Guid = Pick<SubscriptionBody, 'guid'>;
type DeliveryBody = Record<string, unknown> & {
  state: string;
  attempt_count: number;
  attempts: readonly Record<string, unknown>[];
};

const PATIENCE_MS = 10_000;

/** An app whose dispatcher runs and may send to this machine. */
export async function createDispatchingApp({ environment, ...options }: Options = {}): Promise<TestApp> {
  let app: TestApp | undefined;
  // Before the app closes, and with time that goes on: a test that failed may have left requests under way.
  after(() => app && stopInTime(app));
  app = await createTestApp({
    ...options,
    environment: { PORTICO_WEBHOOK_ALLOW_PRIVATE: 'true', ...environment },
  });
  await app.dispatcher.start();
  return app;
}

/** Two nodes on a database of their own, with an endpoint; on two clocks where only one of them is to go on. */
export async function createNodes({ apart = false } = {}) {
  const testDatabase = await createTestDatabase();
  const clock = createFakeClock();
  const a = await createDispatchingApp({ testDatabase, clock });
  const b = await createDispatchingApp({ testDatabase, clock: apart ? createFakeClock() : clock });
  /** One that makes deliveries and sends none. */
  const idle = await createTestApp({ testDatabase, clock });
  after(() => testDatabase.drop());
  const tenant = await createTenant(a);
  const receiver = await createReceiver();
  const subscription = await createSubscription(a, tenant, { url: receiver.url });
  await a.dispatcher.settle();
  const dispatchers = () =>
    idle.database.queries.selectFrom('dispatchers').selectAll().orderBy('guid').execute();
  return { a, b, idle, tenant, receiver, subscription, dispatchers };
}

async function stopInTime({ dispatcher, clock }: TestApp): Promise<void> {
  let stopped = false;
  const stopping = dispatcher.stop().finally(() => {
    stopped = true;
  });
  while (!stopped) {
    clock.advance(1_000);
    await new Promise((resolve) => setImmediate(resolve));
  }
  await stopping;
}

/** For what depends on other processes and sockets: looks again and again, without a pause that could be too short. */
export async function until(isSo: () => boolean | Promise<boolean>, what = 'the condition'): Promise<void> {
  const giveUpAt = Date.now() + PATIENCE_MS;
  while (!(await isSo())) {
    assert.ok(Date.now() < giveUpAt, `${what} did not come about`);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Moves time on in steps, so that dispatchers renew their leases on the way as they would. */
export async function pass(ms: number, apps: readonly TestApp[], stepMs = 1_000): Promise<void> {
  for (let left = ms; left > 0; left -= stepMs) {
    for (const clock of new Set(apps.map((app) => app.clock))) clock.advance(Math.min(stepMs, left));
    await Promise.all(apps.map((app) => app.dispatcher.settle()));
  }
}

/** A delivery as its owner sees it, with its attempts. */
export async function showDelivery(
  app: TestApp,
  { organizationGuid }: Pick<Tenant, 'organizationGuid'>,
  guid: string,
): Promise<DeliveryBody> {
  const token = await userToken(app, organizationGuid);
  const { status, body } = await app.call({ url: `/api/subscription_deliveries/${guid}`, token });
  assert.equal(status, 200, JSON.stringify(body));
  return body as DeliveryBody;
}

/** The delivery of an event to a subscription, as it lies in the database. */
export function deliveryOf(app: TestApp, { guid }: Guid, eventGuid: string) {
  return app.database.queries
    .selectFrom('deliveries')
    .selectAll()
    .where('subscription_guid', '=', guid)
    .where('event_guid', '=', eventGuid)
    .executeTakeFirstOrThrow();
}

/** What waits for a subscription, the first due first. */
export function queueOf(app: TestApp, { guid }: Guid) {
  return app.database.queries
    .selectFrom('delivery_queue')
    .selectAll()
    .where('subscription_guid', '=', guid)
    .orderBy('due_at')
    .execute();
}

export function attemptsOf(app: TestApp, { guid }: Guid) {
  return app.database.queries
    .selectFrom('delivery_attempts')
    .selectAll()
    .where('delivery_guid', '=', guid)
    .orderBy('number')
    .execute();
}

/** All that the database has about a subscription. */
export function subscriptionRow(app: TestApp, { guid }: Guid) {
  return app.database.queries
    .selectFrom('subscriptions')
    .selectAll()
    .where('guid', '=', guid)
    .executeTakeFirstOrThrow();
}

export async function setDisabled(app: TestApp, { guid }: Guid, disabled: boolean): Promise<void> {
  const { status, body } = await app.operate('PATCH', `/subscriptions/${guid}`, { disabled });
  assert.equal(status, 200, JSON.stringify(body));
}

/** One figure of `/metrics`, 0 where it was never counted. `series` is the name with its labels, if it has any. */
export async function metricOf(app: TestApp, series: string): Promise<number> {
  const { payload } = await app.server.inject('/metrics');
  const line = payload.split('\n').find((each) => each.startsWith(`${series} `));
  return line === undefined ? 0 : Number(line.slice(series.length + 1));
}

type SentEvent = { guid: string; event_type: string; object_guid: string };

export function eventIn({ body }: Pick<Request, 'body'>): SentEvent {
  return JSON.parse(body.toString()) as SentEvent;
}

/** The events that arrived, as often as they did. */
export function guidsAt({ received }: Pick<Receiver, 'received'>): string[] {
  return received.map((request) => eventIn(request).guid);
}

export function typesAt({ received }: Pick<Receiver, 'received'>): string[] {
  return received.map((request) => eventIn(request).event_type);
}

/** Signed with this key and with no other (specification, Authentication 11). */
export function isSignedWith(key: string, { headers, body }: Request): boolean {
  return headers['x-service-signature'] === createHmac('sha256', key).update(body).digest('hex');
}

/** Answers each request a moment later, so that whatever may be under way at once is, and counts it. */
export function countConcurrency(receiver: Receiver, status: (request: Request) => number = () => 204) {
  let open = 0;
  let answered = 0;
  /** For each request, in order: how many were under way with it, and how many had been answered before. */
  const seen: { open: number; answered: number }[] = [];
  receiver.behave((_, request) => {
    open += 1;
    seen.push({ open, answered });
    const answer = hold();
    setTimeout(() => {
      open -= 1;
      answered += 1;
      answer.release({ status: status(request) });
    }, 2);
    return answer;
  });
  return { seen, most: () => Math.max(0, ...seen.map((each) => each.open)) };
}
