import { after } from 'node:test';
import { createFakeClock } from '../../../../testing/app/fake-clock.ts';
import { createTestDatabase } from '../../../../testing/database/database.ts';
import { guidOf } from '../../../../testing/webhooks/deliveries.ts';
import { createDatabase } from '../../../infrastructure/database/database.ts';
import { createLog } from '../../../infrastructure/runtime/log.ts';
import type { Delivery } from '../delivery.ts';
import { claimDeliveries, insertDeliveries, type NewDeliveries } from '../queue/queue-store.ts';

export const NOW = createFakeClock().now();
export const [HOLDER, OTHER] = ['a'.repeat(32), 'b'.repeat(32)];
export const later = (ms: number) => new Date(NOW.getTime() + ms);

export type Place = { dueAt?: Date; scheduledAt?: Date; leasedBy?: string | null };

/** A database with an empty queue. */
export async function createQueue() {
  const testDatabase = await createTestDatabase();
  const log = createLog({ level: 'silent', terminal: false });
  const database = createDatabase({ url: testDatabase.url, connections: 10, log });
  const { queries } = database;
  after(async () => {
    await database.close();
    await testDatabase.drop();
  });

  let made = 0;
  /** No other subscription has a guid below or between these; later ones are greater. */
  function nextSubscription(): string {
    made += 1;
    return made.toString(16).padStart(32, '0');
  }

  function deliveryOf(subscriptionGuid: string, fields: Partial<Delivery> = {}): Delivery {
    const guid = guidOf(NOW);
    return {
      ...{
        guid,
        subscriptionGuid,
        organizationGuid: 'f'.repeat(32),
        environment: 'sandbox',
        eventGuid: guid,
      },
      ...{ bankGuid: null, eventType: 'transfer.completed', objectGuid: guid, attemptCount: 0 },
      ...{ createdAt: NOW, isEarly: false, ...fields },
    };
  }

  const insert = (batches: readonly NewDeliveries[], holder: string | null = null) =>
    database.transaction((transaction) => insertDeliveries(transaction, batches, { holder, at: NOW }));

  /** Inserts deliveries with these queue rows; returns their guids. */
  async function enqueue(subscriptionGuid: string, places: readonly Place[]): Promise<string[]> {
    const deliveries = places.map(() => deliveryOf(subscriptionGuid));
    await insert([{ deliveries, taken: 0, failed: false }]);
    for (const [index, { dueAt = NOW, scheduledAt = NOW, leasedBy = null }] of places.entries())
      await queries
        .updateTable('delivery_queue')
        .set({ due_at: dueAt, scheduled_at: scheduledAt, leased_by: leasedBy })
        .where('delivery_guid', '=', deliveries[index]?.guid ?? '')
        .execute();
    return deliveries.map(({ guid }) => guid);
  }

  const claim = async (
    subscriptionGuid: string,
    { limit = 100, recoveredAt = null as Date | null, holder = HOLDER, now = NOW } = {},
  ) => {
    const claims = [{ subscriptionGuid, limit, recoveredAt }];
    return (await claimDeliveries(queries, { claims, holder, now })).map(({ guid }) => guid);
  };

  const placesOf = (subscriptionGuid: string) =>
    queries
      .selectFrom('delivery_queue')
      .selectAll()
      .where('subscription_guid', '=', subscriptionGuid)
      .orderBy('delivery_guid')
      .execute();

  const leasedTo = async (subscriptionGuid: string, holder: string | null) =>
    (await placesOf(subscriptionGuid))
      .filter(({ leased_by }) => leased_by === holder)
      .map(({ delivery_guid }) => delivery_guid);

  return { database, queries, nextSubscription, deliveryOf, insert, enqueue, claim, placesOf, leasedTo };
}
