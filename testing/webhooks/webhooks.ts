import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { after } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { createTestApp, type TestApp } from '../app/app.ts';
import { createFakeClock } from '../app/fake-clock.ts';
import { PATIENCE_MS } from '../app/patience.ts';
import { createTenant, type Tenant, userToken } from '../app/tenant.ts';
import { createTestDatabase } from '../database/database.ts';
import { createSubscription, type SubscriptionBody } from './subscriptions.ts';
import { createTestEndpoint, hold, type TestEndpoint } from './test-endpoint.ts';

/** Helpers for tests of the dispatcher. */

type Options = NonNullable<Parameters<typeof createTestApp>[0]>;
type Request = TestEndpoint['received'][number];
type Guid = Pick<SubscriptionBody, 'guid'>;
type DeliveryBody = Record<string, unknown> & {
  state: string;
  attempt_count: number;
  attempts: readonly Record<string, unknown>[];
};

/** A condition often costs a query: polled at once again, it takes the CPU from the work that it waits for. */
const POLL_MS = 4;

/** An application with a running dispatcher that may send to this machine. */
export async function createDispatchingApp({ environment, ...options }: Options = {}): Promise<TestApp> {
  let app: TestApp | undefined;
  // Before the app closes and while time passes: a failed test may have left requests in flight.
  after(() => app && stopInTime(app));
  app = await createTestApp({
    ...options,
    environment: { PORTICO_WEBHOOK_ALLOW_PRIVATE: 'true', ...environment },
  });
  await app.dispatcher.start();
  return app;
}

/** Two nodes on one database, with an endpoint; with separate clocks when only one of them is to advance. */
export async function createNodes({ apart = false } = {}) {
  const testDatabase = await createTestDatabase();
  const clock = createFakeClock();
  const a = await createDispatchingApp({ testDatabase, clock });
  const b = await createDispatchingApp({ testDatabase, clock: apart ? createFakeClock() : clock });
  after(() => testDatabase.drop());
  const tenant = await createTenant(a);
  const endpoint = await createTestEndpoint();
  const subscription = await createSubscription(a, tenant, { url: endpoint.url });
  await a.dispatcher.drain();
  const dispatchers = () =>
    a.database.queries.selectFrom('dispatchers').selectAll().orderBy('guid').execute();
  /** A node without a dispatcher. */
  const createIdle = () => createTestApp({ testDatabase, clock });
  return { a, b, createIdle, tenant, endpoint, subscription, dispatchers };
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

/** Polls a condition that depends on other processes or sockets. */
export async function until(
  condition: () => boolean | Promise<boolean>,
  what = 'the condition',
): Promise<void> {
  const giveUpAt = performance.now() + PATIENCE_MS;
  while (!(await condition())) {
    assert.ok(performance.now() < giveUpAt, `timed out waiting for ${what}`);
    await delay(POLL_MS);
  }
}

/** Advances time in steps, so that dispatchers renew their leases. */
export async function pass(ms: number, apps: readonly TestApp[], stepMs = 1_000): Promise<void> {
  for (let left = ms; left > 0; left -= stepMs) {
    for (const clock of new Set(apps.map((app) => app.clock))) clock.advance(Math.min(stepMs, left));
    await Promise.all(apps.map((app) => app.dispatcher.drain()));
  }
}

/** A delivery with its attempts, as its owner sees it. */
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

/** The stored delivery of an event to a subscription. */
export function deliveryOf(app: TestApp, { guid }: Guid, eventGuid: string) {
  return app.database.queries
    .selectFrom('deliveries')
    .selectAll()
    .where('subscription_guid', '=', guid)
    .where('event_guid', '=', eventGuid)
    .executeTakeFirstOrThrow();
}

/** The queue rows of a subscription by due time. */
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

/** The row of a subscription. */
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

/** A value of `/metrics`, 0 by default. `series` is the name with its labels. */
export async function metricOf(app: TestApp, series: string): Promise<number> {
  const { payload } = await app.server.inject('/metrics');
  const line = payload.split('\n').find((each) => each.startsWith(`${series} `));
  return line === undefined ? 0 : Number(line.slice(series.length + 1));
}

type SentEvent = { guid: string; event_type: string; object_guid: string };

export function eventIn({ body }: Pick<Request, 'body'>): SentEvent {
  return JSON.parse(body.toString()) as SentEvent;
}

/** The guids of the events that arrived, with repetitions. */
export function guidsAt({ received }: Pick<TestEndpoint, 'received'>): string[] {
  return received.map((request) => eventIn(request).guid);
}

export function typesAt({ received }: Pick<TestEndpoint, 'received'>): string[] {
  return received.map((request) => eventIn(request).event_type);
}

/** Signed with this key only (specification, Authentication 11). */
export function isSignedWith(key: string, { headers, body }: Pick<Request, 'headers' | 'body'>): boolean {
  return headers['x-service-signature'] === createHmac('sha256', key).update(body).digest('hex');
}

/** Delays each response so that parallel requests overlap, and counts them. */
export function countConcurrency(endpoint: TestEndpoint, status: (request: Request) => number = () => 204) {
  let open = 0;
  let answered = 0;
  /** Per request, in order: the requests in flight with it, and those answered before. */
  const seen: { open: number; answered: number }[] = [];
  endpoint.behave((_, request) => {
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
