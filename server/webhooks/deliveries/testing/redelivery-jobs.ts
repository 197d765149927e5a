import assert from 'node:assert/strict';
import type { TestApp } from '../../../../testing/app/app.ts';
import { createTenant, type Tenant, userToken } from '../../../../testing/app/tenant.ts';
import { deliveriesOf, type insertDeliveries } from '../../../../testing/webhooks/deliveries.ts';
import { createSubscription, type SubscriptionBody } from '../../../../testing/webhooks/subscriptions.ts';

export type Options = Parameters<typeof insertDeliveries>[3][number];
type Item = Record<string, unknown>;

const DAY_MS = 24 * 3_600_000;
const PATH = '/api/subscription_recoveries';

/** The guid of an event in tests. */
export const event = (name: string) => Buffer.from(name.padEnd(16)).toString('hex');
export const once = (...names: string[]) => Object.fromEntries(names.map((name) => [event(name), 1]));

/** Calls of `/api/subscription_recoveries` as a Founder. */
export function createRedeliveryJobs(app: TestApp) {
  const ago = (ms: number) => new Date(app.clock.now().getTime() - ms);
  const since = () => ago(DAY_MS).toISOString();

  async function call(owner: Tenant, request: { method?: 'DELETE'; url: string }) {
    return app.call({ ...request, token: await userToken(app, owner.organizationGuid) });
  }

  async function post(owner: Tenant, payload: object, token?: string) {
    const chosen = token ?? (await userToken(app, owner.organizationGuid));
    return app.call({ method: 'POST', url: PATH, token: chosen, payload });
  }

  return {
    ago,
    post,

    /** A tenant with one subscription and no deliveries. */
    async createOwner(environment: 'sandbox' | 'production' = 'sandbox', { active = false } = {}) {
      const owner = await createTenant(app);
      const subscription = await createSubscription(app, owner, { environment, active });
      const { queries } = app.database;
      await queries.deleteFrom('delivery_queue').where('subscription_guid', '=', subscription.guid).execute();
      await queries.deleteFrom('deliveries').where('subscription_guid', '=', subscription.guid).execute();
      return { owner, subscription };
    },

    async recover(owner: Tenant, { guid }: SubscriptionBody, input: object = {}): Promise<Item> {
      const { status, body } = await post(owner, { subscription_guid: guid, since: since(), ...input });
      assert.equal(status, 201, JSON.stringify(body));
      return body;
    },

    async get(owner: Tenant, redelivery: Item): Promise<Item> {
      const { status, body } = await call(owner, { url: `${PATH}/${redelivery.guid}` });
      assert.equal(status, 200, JSON.stringify(body));
      return body;
    },

    cancel: (owner: Tenant, redelivery: Item) =>
      call(owner, { method: 'DELETE', url: `${PATH}/${redelivery.guid}` }),

    async preview(owner: Tenant, { guid }: SubscriptionBody, window: Record<string, string> = {}) {
      const query = new URLSearchParams(window);
      return call(owner, { url: `/api/subscription_recovery_previews/${guid}?${query}` });
    },

    /** Runs all steps, with the rest of a second that follows a step without progress. */
    async run(...nodes: readonly TestApp[]): Promise<void> {
      let advanced: boolean;
      const steps = async (node: TestApp) => {
        while (await node.redeliveries.step()) advanced = true;
      };
      do {
        app.clock.advance(1_000);
        advanced = false;
        await Promise.all((nodes.length > 0 ? nodes : [app]).map(steps));
        // Of several at once, those that find a redelivery locked rest.
      } while (advanced && nodes.length > 1);
    },

    /** The number of deliveries of each event that are not known. */
    async resent(subscription: SubscriptionBody, known: readonly string[]): Promise<Record<string, number>> {
      const counts: Record<string, number> = {};
      for (const { guid, event_guid } of await deliveriesOf(app, subscription))
        if (!known.includes(guid)) counts[event_guid] = (counts[event_guid] ?? 0) + 1;
      return counts;
    },
  };
}
