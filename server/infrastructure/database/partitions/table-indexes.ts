import { sql } from 'kysely';
import type { Queries } from '../database.ts';

/**
 * Indexes of large tables. They are built concurrently after the migrations, because an index that is built in a
 * transaction blocks every write to its table until the commit.
 */
type TableIndex = { name: string; table: string; definition: string };
export type MissingTableIndex = TableIndex & { isEmpty: boolean };

export const TABLE_INDEXES: readonly TableIndex[] = [
  // Every filter of a list has an index that ends with the guid (migration 0017).
  ...(['environment', 'bank_guid', 'customer_guid'] as const).flatMap((place) => [
    {
      name: `objects_by_${place.replace('_guid', '')}_state`,
      table: 'objects',
      definition: `(organization_guid, ${place}, type, state, guid) where state is not null`,
    },
    {
      name: `objects_by_${place.replace('_guid', '')}_type`,
      table: 'objects',
      definition: `(organization_guid, ${place}, type, (details ->> 'type'), guid) where details ->> 'type' is not null`,
    },
    // For `updated_at`. Most objects change last within minutes of their creation and are not in this index.
    {
      name: `objects_by_${place.replace('_guid', '')}_change`,
      table: 'objects',
      definition: `(organization_guid, ${place}, type, updated_at) where guid_time_differs or updated_at - created_at > interval '5 minutes'`,
    },
  ]),
  {
    name: 'objects_by_creation',
    table: 'objects',
    definition: '(organization_guid, type, created_at) where guid_time_differs',
  },
  // The account in which a customer holds an asset, for the simulator. Other objects are not in this index.
  {
    name: 'objects_by_holding',
    table: 'objects',
    definition: `(organization_guid, customer_guid, (details ->> 'asset'), guid) where type = 'account' and details ->> 'type' in ('fiat', 'trading') and details ? 'balance'`,
  },
  // Retries that a recovery of their endpoint makes due. A delivery is in this index only after a failed attempt.
  {
    name: 'delivery_queue_early',
    table: 'delivery_queue',
    definition: '(subscription_guid, scheduled_at) where leased_by is null and due_at > scheduled_at',
  },
  // File processing alternates between Organizations: the earliest file of each, by its next step (migration 0022).
  {
    name: 'files_arrived',
    table: 'files',
    definition:
      '(organization_guid, next_look_at) where next_look_at is not null and uploaded_at is not null',
  },
  {
    name: 'files_awaited',
    table: 'files',
    definition: '(organization_guid, next_look_at) where next_look_at is not null and uploaded_at is null',
  },
];

/** Indexes that do not exist or that an interrupted build left invalid. */
export async function readMissingTableIndexes(queries: Queries): Promise<MissingTableIndex[]> {
  const tables = [...new Set(TABLE_INDEXES.map(({ table }) => table))];
  const { rows } = await sql<{ table: string; isEmpty: boolean; valid: string[] }>`
    select relname as table, pg_relation_size(oid) = 0 as "isEmpty", array(
      select index.relname::text from pg_index join pg_class as index on index.oid = indexrelid
      where indrelid = pg_class.oid and indisvalid) as valid
    from pg_class where relname = any(${tables}) and relkind = 'r' and pg_table_is_visible(oid)`.execute(
    queries,
  );
  return TABLE_INDEXES.flatMap((index) => {
    const found = rows.find(({ table }) => table === index.table);
    return found && !found.valid.includes(index.name) ? [{ ...index, isEmpty: found.isEmpty }] : [];
  });
}

export async function buildTableIndex(
  connection: Queries,
  { name, table, definition }: TableIndex,
): Promise<void> {
  await sql`drop index concurrently if exists ${sql.table(name)}`.execute(connection);
  await sql`create index concurrently ${sql.id(name)} on ${sql.table(table)} ${sql.raw(definition)}`.execute(
    connection,
  );
}
