import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { createTestApp } from '../../../../testing/app/app.ts';
import { createTenant } from '../../../../testing/app/tenant.ts';
import { queriesOfOwner } from '../../../../testing/database/database.ts';
import { explain } from '../../../../testing/database/explain.ts';
import { createSubscription } from '../../../../testing/webhooks/subscriptions.ts';
import type { Queries, Transaction } from '../../../infrastructure/database/database.ts';
import { preferIndexes } from '../../../infrastructure/database/planner.ts';
import { updateOutcomes } from '../../subscriptions/endpoint-store.ts';
import { addErrors } from '../health/error-store.ts';

/** The cost of recording failures does not depend on the number of subscriptions. */
const app = await createTestApp();
const { queries } = app.database;
const owner = queriesOfOwner(app.testDatabase);
const { guid: template, url } = await createSubscription(app, await createTenant(app));
const at = app.clock.now();

const FEW = 200;
/** A statement that reads each subscription touches more than three times the buffers that it needs for a few. */
const MANY = 5_000;
const FAILING = 100;

/** Copies the subscription; returns some of the copies. */
async function createSubscriptions(count: number): Promise<string[]> {
  await sql`delete from subscriptions where guid <> ${template}`.execute(owner);
  const { rows } = await sql<{ guid: string }>`
    insert into subscriptions
    select (jsonb_populate_record(s, jsonb_build_object('guid', gen_random_uuid()))).*
    from subscriptions as s, generate_series(1, ${count}::int)
    returning guid`.execute(owner);
  return rows.slice(0, FAILING).map(({ guid }) => guid);
}

const STATEMENTS: Record<string, (transaction: Transaction, guids: readonly string[]) => Promise<unknown>> = {
  updateOutcomes: (explained, guids) =>
    updateOutcomes(
      explained,
      guids.map((guid) => ({ guid, url: String(url), succeededAt: undefined, failingSince: at, at })),
    ),
  addErrors: (explained, guids) =>
    addErrors(
      explained,
      guids.map((subscriptionGuid) => ({
        ...{ subscriptionGuid, kind: 'rejected', status: 500, count: 1, lastAt: at },
        ...{ deliveryGuid: subscriptionGuid, attemptNumber: 1 },
      })),
    ),
};

async function readCosts(analyzed: 'before' | 'after', count: number) {
  await sql`analyze subscriptions`.execute(owner);
  const guids = await createSubscriptions(count);
  if (analyzed === 'after') await sql`analyze subscriptions`.execute(owner);
  const costs = new Map<string, number>();
  for (const [name, run] of Object.entries(STATEMENTS)) {
    const inTransaction = async (explained: Queries) => {
      await preferIndexes(explained as Transaction);
      return run(explained as Transaction, guids);
    };
    costs.set(name, (await explain(queries, 'subscriptions', inTransaction)).buffers);
  }
  return costs;
}

for (const analyzed of ['before', 'after'] as const)
  test(`failures cost the same among ${MANY} subscriptions as among ${FEW}, analyzed ${analyzed} they exist`, async () => {
    const small = await readCosts(analyzed, FEW);
    for (const [name, buffers] of await readCosts(analyzed, MANY)) {
      const few = small.get(name) ?? 0;
      assert.ok(buffers <= 3 * few, `${name}: ${few} buffers with ${FEW}, ${buffers} with ${MANY}`);
    }
  });
