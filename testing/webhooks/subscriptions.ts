import assert from 'node:assert/strict';
import { objectsOf } from '../api/answers.ts';
import type { TestApp } from '../app/app.ts';
import { type Tenant, userToken } from '../app/tenant.ts';
import type { Environment } from '../objects/customers.ts';

type Owner = Pick<Tenant, 'organizationGuid'>;
export type SubscriptionBody = Record<string, unknown> & {
  guid: string;
  url: string;
  environment: Environment;
  state: string;
};
export type CreatedSubscriptionBody = SubscriptionBody & { signing_key: string };

type Options = { url?: string; name?: string; environment?: Environment; active?: boolean };

/**
 * A subscription as the dashboard creates one; an Organization can have five. `active` sends more than its first event.
 */
export async function createSubscription(
  app: TestApp,
  { organizationGuid }: Owner,
  {
    url = 'https://partner.example/hook',
    name = 'Hook',
    environment = 'sandbox',
    active = false,
  }: Options = {},
): Promise<CreatedSubscriptionBody> {
  const { status, body } = await app.call({
    method: 'POST',
    url: '/api/subscriptions',
    token: await userToken(app, organizationGuid),
    payload: { type: 'webhook', name, url, environment },
  });
  assert.equal(status, 201, JSON.stringify(body));
  // As if its endpoint had answered before: for endpoints that fail every event.
  if (active) await setMoments(app, String(body.guid), { activated_at: app.clock.now() });
  return body as CreatedSubscriptionBody;
}

/** The newest of the sandbox, or else a new one: for tests that would exceed the limit. */
export async function anySubscription(app: TestApp, owner: Owner): Promise<SubscriptionBody> {
  const path = `/organizations/${owner.organizationGuid}/subscriptions?environment=sandbox&per_page=1`;
  const [existing] = objectsOf(await app.operate('GET', path));
  return (existing as SubscriptionBody | undefined) ?? createSubscription(app, owner);
}

/**
 * Calls `/api/subscriptions…` as a Founder, with a new token for each call, because user tokens expire after minutes.
 */
export function founderOf(app: TestApp, { organizationGuid }: Owner) {
  return async (method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path = '', payload?: object) =>
    app.call({
      method,
      url: `/api/subscriptions${path}`,
      token: await userToken(app, organizationGuid),
      ...(payload ? { payload } : {}),
    });
}

/** The event types of an object, in order. */
export async function eventTypesOf(app: TestApp, objectGuid: string): Promise<string[]> {
  const rows = await app.database.queries
    .selectFrom('events')
    .select('event_type')
    .where('object_guid', '=', objectGuid)
    .orderBy('guid')
    .execute();
  return rows.map((row) => row.event_type);
}

/** Sets timestamps of a subscription to begin a test with. */
export async function setMoments(
  app: TestApp,
  guid: string,
  moments: Partial<Record<(typeof MOMENTS)[number], Date | null>>,
): Promise<void> {
  if (Object.keys(moments).length === 0) return;
  await app.database.queries.updateTable('subscriptions').set(moments).where('guid', '=', guid).execute();
}

export const MOMENTS = [
  'activated_at',
  'deliveries_failing_since',
  'recovered_at',
  'retries_early_before',
  'failed_at',
  'disabled_at',
  'paused_at',
  'scheduled_deletion_at',
  'deleted_at',
] as const;
