import { pass } from '../webhooks/webhooks.ts';
import type { TestApp } from './app.ts';

/**
 * Outcomes are recorded while time passes. Slowly, because a freeze is refused after 30 seconds of this time and reads the
 * database in real time; with larger steps to wait for the refusal.
 */
export async function passUntil<T>(nodes: readonly TestApp[], work: Promise<T>, stepMs = 10): Promise<T> {
  let isOver = false;
  const end = () => {
    isOver = true;
  };
  work.then(end, end);
  while (!isOver) await pass(stepMs, nodes, stepMs);
  return work;
}

/** As if the process that sends it stood still. */
export async function holdBatch({ database, clock }: TestApp, subscriptionGuid: string) {
  const guid = '1'.repeat(32);
  await database.queries
    .insertInto('delivery_batches')
    .values({
      ...{ guid, subscription_guid: subscriptionGuid, leased_by: '2'.repeat(32) },
      ...{ delivery_guids: [], created_at: clock.now() },
    })
    .execute();
  return {
    release: () => database.queries.deleteFrom('delivery_batches').where('guid', '=', guid).execute(),
  };
}
