import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { migrateTo } from '../../../../testing/database/database.ts';
import type { Queries } from '../database.ts';
import { migrate } from '../migrate.ts';
import { buildMissingIndexes } from './partition-indexes.ts';
import {
  DAY_MS,
  eventGuids,
  insertEvent,
  insertHistory,
  later,
  namesOf,
  openPartitioned,
  START,
  tableExists,
  WEEK_MS,
} from './testing/history.ts';

/** A database of version 0008 with events, then migrated. */
async function openUpgraded(eventsAt: readonly Date[]) {
  const opened = await openPartitioned({ migrated: false });
  const { database } = opened;
  await database.maintain((queries) => migrateTo(queries, '0008_customers'));
  const guids: string[] = [];
  for (const moment of eventsAt) guids.push(await insertEvent(database.queries, moment));
  await migrate(database);
  return { ...opened, guids };
}

test('events from before the partitions stay readable, and are dropped when the last of them is old', async () => {
  const { database, partitions, guids, clock } = await openUpgraded([
    later(START, -300 * DAY_MS),
    later(START, -WEEK_MS),
    START,
  ]);
  await partitions.prepare();
  await partitions.prepare();
  const names = await namesOf(database.queries);
  assert.deepEqual(
    names.filter((name) => name.startsWith('events')),
    ['events_2020_11_16', 'events_2020_11_23', 'events_before'],
    'covered weeks are not created again',
  );
  const expected = [...guids];
  for (const days of [-7, 0, 13])
    expected.push(await insertEvent(database.queries, later(clock.now(), days * DAY_MS)));
  assert.deepEqual(await eventGuids(database.queries), expected.toSorted());

  const endOfWeek = new Date('2020-11-16T00:00:00.000Z');
  clock.set(later(endOfWeek, 30 * DAY_MS - 1));
  await partitions.prepare();
  assert.ok(!(await partitions.dropOld()).includes('events_before'));
  clock.advance(1);
  assert.ok((await partitions.dropOld()).includes('events_before'));
  assert.deepEqual(await eventGuids(database.queries), expected.slice(-1), 'new ones went to their week');
  await insertEvent(database.queries, clock.now());
});

test('without earlier events, their partition is removed', async () => {
  const { database, partitions } = await openUpgraded([]);
  await partitions.prepare();
  assert.ok(!(await tableExists(database.queries, 'events_before')));
  await insertHistory(database.queries, START);
});

test('a partition that an earlier version detached is dropped by the migration', async () => {
  const { database } = await openPartitioned({ migrated: false });
  await database.maintain((queries) => migrateTo(queries, '0016_consignments'));
  await sql`create table events_2020_01_06 (like events);
    create table events_2020_01_13 (like events);
    comment on table events_2020_01_06 is 'A partition whose time is over: to be dropped.'`.execute(
    database.queries,
  );
  await migrate(database);
  assert.ok(!(await tableExists(database.queries, 'events_2020_01_06')));
  assert.ok(await tableExists(database.queries, 'events_2020_01_13'));
});

const REPLACED = ['deliveries_by_bank', 'deliveries_by_type'];

async function replacedIn(queries: Queries): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_class where relname = any(${REPLACED}) order by relname`.execute(queries);
  return rows.map(({ name }) => name);
}

test('a database with deliveries keeps replaced indexes for nodes of the previous version', async () => {
  const { database, partitions, log } = await openPartitioned({ migrated: false });
  await database.maintain((queries) => migrateTo(queries, '0071_organization_transfers'));
  await partitions.prepare();
  await insertHistory(database.queries, START);
  await migrate(database);
  const built = await buildMissingIndexes({ database, log });
  for (const name of ['by_bank_hash', 'by_type_hash'])
    assert.ok(built.includes(`deliveries_2020_11_09_deliveries_${name}`), String(built));
  assert.deepEqual(await replacedIn(database.queries), REPLACED);
});

test('a new database has no replaced indexes', async () => {
  const { database } = await openPartitioned({});
  assert.deepEqual(await replacedIn(database.queries), []);
});
