import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { createTestApp } from '../../../../testing/app.ts';
import { claimDeletions, insertDeletion } from './cleanup-store.ts';

const { clock, guids, database } = await createTestApp();
const { queries } = database;

test('a node of the previous version inserts, claims and deletes deletions under their old name', async () => {
  const [own, old] = [guids.next(), guids.next()];
  const now = clock.now();
  const later = new Date(now.getTime() + 60_000);
  await insertDeletion(queries, own, now);
  await sql`insert into file_removals (guid, due_at) values (${old}, ${later})`.execute(queries);
  const claimed = await sql`
    update file_removals set due_at = ${later}
    where guid in (select guid from file_removals where due_at <= ${now}
      order by due_at limit 10 for update skip locked)
    returning guid`.execute(queries);
  assert.deepEqual(claimed.rows, [{ guid: own }]);
  await sql`delete from file_removals where guid = ${own}`.execute(queries);
  assert.deepEqual(await claimDeletions(queries, later, new Date(later.getTime() + 1), 10), [old]);
});
