import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { createTestApp } from '../../../testing/app/app.ts';
import { createTenant } from '../../../testing/app/tenant.ts';
import { queriesOfOwner } from '../../../testing/database/database.ts';
import { explain } from '../../../testing/database/explain.ts';
import { createSubscription } from '../../../testing/webhooks/subscriptions.ts';
import type { Transaction } from '../../infrastructure/database/database.ts';
import { NIL_GUID } from '../../infrastructure/runtime/guid.ts';
import { requireReceivers, selectReceivers } from './endpoint-store.ts';
import { selectHoldingAfter } from './holding-store.ts';

/** The cost of a reported event, and of a sweep that finds nothing, does not depend on the number of subscriptions. */
const app = await createTestApp();
const { queries } = app.database;
const owner = queriesOfOwner(app.testDatabase);
const tenant = await createTenant(app);
const { guid: template } = await createSubscription(app, tenant);
const organizations = [tenant.organizationGuid];

const FEW = 200;
const MANY = 4_000;
/** A statement that reads the subscriptions of others touches hundreds of buffers more. */
const ALLOWED_BUFFERS = 50;

await sql`
  insert into organizations
  select (jsonb_populate_record(o, jsonb_build_object('guid', gen_random_uuid()))).*
  from organizations as o, generate_series(1, ${MANY}::int) where o.guid = ${tenant.organizationGuid}`.execute(
  owner,
);

/** One subscription each. */
async function createOthers(count: number): Promise<void> {
  await sql`delete from subscriptions where guid <> ${template}`.execute(owner);
  await sql`
    insert into subscriptions
    select (jsonb_populate_record(s, jsonb_build_object('guid', gen_random_uuid(), 'organization_guid', o.guid))).*
    from subscriptions as s,
      (select guid from organizations where guid <> ${tenant.organizationGuid} limit ${count}) as o
    where s.guid = ${template}`.execute(owner);
}

const STATEMENTS: Record<string, (explained: Transaction) => Promise<unknown>> = {
  selectReceivers: (explained) => selectReceivers(explained, organizations),
  requireReceivers: async (explained) => {
    const receivers = await selectReceivers(queries as Transaction, organizations);
    await requireReceivers(explained, organizations, receivers);
  },
  selectHoldingAfter: (explained) =>
    selectHoldingAfter(explained, NIL_GUID, { createdBefore: app.clock.now(), limit: 200 }),
};

/** A restored database has no statistics until it is analyzed. */
type Analyzed = 'never' | 'before' | 'after';

async function readCosts(analyzed: Analyzed, count: number): Promise<Map<string, number>> {
  if (analyzed === 'before') await sql`analyze subscriptions`.execute(owner);
  await createOthers(count);
  if (analyzed === 'after') await sql`analyze subscriptions`.execute(owner);
  const costs = new Map<string, number>();
  for (const [name, run] of Object.entries(STATEMENTS)) {
    const { buffers } = await explain(queries, 'subscriptions', (explained) => run(explained as Transaction));
    costs.set(name, buffers);
  }
  return costs;
}

for (const analyzed of ['never', 'before', 'after'] as const)
  test(`endpoints are found at the same cost among ${MANY} as among ${FEW} (analyzed: ${analyzed})`, async () => {
    const small = await readCosts(analyzed, FEW);
    for (const [name, buffers] of await readCosts(analyzed, MANY)) {
      const few = small.get(name) ?? 0;
      assert.ok(
        buffers <= few + ALLOWED_BUFFERS,
        `${name}: ${few} buffers with ${FEW}, ${buffers} with ${MANY}`,
      );
    }
  });
