import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { createTenant, tokenOf } from '../../testing/app/tenant.ts';
import { queriesOfOwner } from '../../testing/database/database.ts';
import { createCustomer } from '../../testing/objects/customers.ts';
import { publishEvents } from '../../testing/webhooks/events.ts';
import { createSubscription } from '../../testing/webhooks/subscriptions.ts';
import { createTestEndpoint } from '../../testing/webhooks/test-endpoint.ts';
import { createDispatchingApp } from '../../testing/webhooks/webhooks.ts';

const app = await createDispatchingApp();
const { queries } = app.database;
const tenant = await createTenant(app);
const endpoint = await createTestEndpoint();
await createSubscription(app, tenant, { url: endpoint.url });
const customerGuid = await createCustomer(app, tenant.bankGuid);

/** Prepares the statements of events, deliveries and objects, or uses them again on the same connections. */
async function useStatements(): Promise<void> {
  const [withBank] = await publishEvents(app, tenant);
  const withoutBank = [{ bank_guid: undefined, environment: 'sandbox' }];
  const [atOrganization] = await publishEvents(app, tenant, withoutBank);
  endpoint.behave((nth) => ({ kind: 'answer', status: nth % 2 === 0 ? 500 : 200 }));
  await app.dispatcher.drain();
  const token = await tokenOf(app, tenant.bankKey, 'customers:read');
  const { status } = await app.call({ url: `/api/customers/${customerGuid}`, token });
  assert.equal(status, 200);
  const { rows } = await sql`
    select from deliveries where event_guid in (${withBank}, ${atOrganization}) and attempt_count > 0`.execute(
    queries,
  );
  assert.equal(rows.length, 2);
}

test('columns that the migrations of the next version add disturb no call of this one', async () => {
  await useStatements();
  const owner = queriesOfOwner(app.testDatabase);
  const { rows: tables } = await sql<{ name: string }>`
    select relname as name from pg_class
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition`.execute(
    owner,
  );
  for (const { name } of tables)
    await sql`alter table ${sql.ref(name)} add column added_later text`.execute(owner);
  await useStatements();
});
