import { randomBytes } from 'node:crypto';
import type { Insertable } from 'kysely';
import type { Tables } from '../../server/infrastructure/database/tables.ts';
import { firstGuidAt } from '../../server/infrastructure/runtime/guid.ts';
import type { TestApp } from '../app/app.ts';
import type { SubscriptionBody } from './subscriptions.ts';

type Row = Insertable<Tables['deliveries']>;

type Options = Partial<Omit<Row, 'completed_at' | 'failed_at'>> & {
  /** Waiting deliveries are in the queue, the others are not. */
  ended?: 'waiting' | 'completed' | 'failed';
  /** When it ended; the creation time by default. */
  at?: Date;
  /** The time of the next attempt of a waiting delivery. */
  dueAt?: Date;
};

let made = 0;

/** A guid of that time; later ones are greater. */
export function guidOf(moment: Date): string {
  made += 1;
  const sequence = `7${made.toString(16).padStart(11, '0').slice(0, 3)}8${made.toString(16).padStart(15, '0')}`;
  return firstGuidAt(moment).slice(0, 12) + sequence;
}

/** Inserts delivery rows in the given state; returns their guids. */
export async function insertDeliveries(
  app: TestApp,
  owner: { organizationGuid: string },
  subscription: Pick<SubscriptionBody, 'guid' | 'environment'>,
  deliveries: readonly Options[],
): Promise<string[]> {
  const rows = deliveries.map(({ ended = 'waiting', at, dueAt, ...given }) => {
    const created_at = (given.created_at ?? app.clock.now()) as Date;
    const row: Row = {
      guid: guidOf(created_at),
      organization_guid: owner.organizationGuid,
      environment: subscription.environment,
      subscription_guid: subscription.guid,
      event_guid: randomBytes(16).toString('hex'),
      bank_guid: null,
      event_type: 'transfer.completed',
      object_guid: randomBytes(16).toString('hex'),
      attempt_count: 0,
      ...given,
      created_at,
      updated_at: given.updated_at ?? created_at,
      ...(ended === 'waiting' ? {} : { [`${ended}_at`]: at ?? created_at }),
    };
    return { row, dueAt: ended === 'waiting' ? (dueAt ?? created_at) : undefined };
  });
  await app.database.queries
    .insertInto('deliveries')
    .values(rows.map(({ row }) => row))
    .execute();
  const waiting = rows.flatMap(({ row, dueAt }) =>
    dueAt
      ? {
          subscription_guid: row.subscription_guid,
          delivery_guid: row.guid,
          due_at: dueAt,
          scheduled_at: row.created_at,
          leased_by: null,
        }
      : [],
  );
  if (waiting.length > 0) await app.database.queries.insertInto('delivery_queue').values(waiting).execute();
  return rows.map(({ row }) => row.guid);
}

/** The deliveries of a subscription, oldest first. */
export function deliveriesOf(app: TestApp, { guid }: Pick<SubscriptionBody, 'guid'>) {
  return app.database.queries
    .selectFrom('deliveries')
    .selectAll()
    .where('subscription_guid', '=', guid)
    .orderBy('guid')
    .execute();
}
