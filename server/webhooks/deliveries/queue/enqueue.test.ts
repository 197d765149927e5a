import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTenant } from '../../../../testing/app/tenant.ts';
import { eventOf } from '../../../../testing/webhooks/events.ts';
import { createSubscription } from '../../../../testing/webhooks/subscriptions.ts';
import { createTestEndpoint } from '../../../../testing/webhooks/test-endpoint.ts';
import {
  createDispatchingApp,
  guidsAt,
  metricOf,
  queueOf,
  until,
} from '../../../../testing/webhooks/webhooks.ts';
import type { Database } from '../../../infrastructure/database/database.ts';
import { createEnqueue } from './enqueue.ts';

/** Deliveries of transactions with a failed or unknown commit. */
const app = await createDispatchingApp();
const { clock, dispatcher, guids, subscriptions } = app;

/** Commits, then breaks the connection. */
const unanswered: Database = {
  ...app.database,
  onEnd: (transaction, action) =>
    app.database.onEnd(transaction, (ending) => action(ending === 'committed' ? 'unknown' : ending)),
};
const { enqueue } = createEnqueue({
  ...{ database: unanswered, clock, guids, subscriptions, dispatcher },
  createdAsFailed: { note: () => undefined },
});

for (const count of [1, 40]) {
  test(`${count} deliveries with an unknown commit are released at once and sent once`, async () => {
    const tenant = await createTenant(app);
    const endpoint = await createTestEndpoint();
    const subscription = await createSubscription(app, tenant, { url: endpoint.url });
    await dispatcher.drain();
    const events = Array.from({ length: count }, () => ({
      ...(eventOf(app, tenant) as { event_type: string; object_guid: string; bank_guid: string }),
      ...{ guid: guids.next(), organization_guid: tenant.organizationGuid, environment: 'sandbox' as const },
    }));
    await app.database.transaction((transaction) => enqueue(transaction, events));
    await until(async () => {
      const rows = await queueOf(app, subscription);
      return rows.length === count && rows.every(({ leased_by }) => leased_by === null);
    }, 'all of them free to be claimed');
    assert.equal(await metricOf(app, 'portico_deliveries_held'), 0);
    await dispatcher.drain();
    assert.deepEqual(guidsAt(endpoint).slice(1).toSorted(), events.map(({ guid }) => guid).toSorted());
  });
}
