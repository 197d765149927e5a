import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { beforeEach, test } from 'node:test';
import { sql } from 'kysely';
import { createFakeClock } from '../../../../testing/app/fake-clock.ts';
import { openTestDatabase, queriesOfOwner } from '../../../../testing/database/database.ts';
import { createGuids } from '../../runtime/guid.ts';
import { type Page, selectPage } from './paging.ts';

const { testDatabase, database } = await openTestDatabase();
const { queries } = database;
const owner = queriesOfOwner(testDatabase);
const guids = createGuids({ clock: createFakeClock(), randomBytes });

beforeEach(async () => {
  await sql`truncate organizations cascade`.execute(owner);
});

async function insert(count: number, name = 'x'): Promise<string[]> {
  const made = Array.from({ length: count }, () => guids.next());
  await sql`
    insert into organizations (guid, name, live, features, created_at, updated_at)
    select guid, ${name}, false, '{}', ${new Date(0)}, ${new Date(0)} from unnest(${made}::uuid[]) as guid`.execute(
    queries,
  );
  return made.reverse();
}

function select(page: Partial<Page>, name?: string) {
  let query = queries.selectFrom('organizations').selectAll();
  if (name !== undefined) query = query.where('name', '=', name);
  return selectPage(queries, query, { number: 0, perPage: 20, offset: 0, after: undefined, ...page });
}

function guidsOf({ rows }: { rows: { guid: string }[] }): string[] {
  return rows.map((row) => row.guid);
}

test('an empty list has no rows, no next and a total of 0', async () => {
  assert.deepEqual(await select({}), { rows: [], total: 0, next: undefined });
});

test('pages are newest first and the total counts all rows', async () => {
  const newestFirst = await insert(45);
  const first = await select({});
  assert.deepEqual(
    [guidsOf(first), first.total, first.next],
    [newestFirst.slice(0, 20), 45, newestFirst[19]],
  );
  const last = await select({ number: 2, offset: 40 });
  assert.deepEqual([guidsOf(last), last.total, last.next], [newestFirst.slice(40), 45, undefined]);
  const beyond = await select({ number: 3, offset: 60 });
  assert.deepEqual([guidsOf(beyond), beyond.total, beyond.next], [[], 45, undefined]);
});

test('a full last page has no next', async () => {
  await insert(20);
  assert.equal((await select({})).next, undefined);
  await insert(1);
  assert.notEqual((await select({})).next, undefined);
});

test('the total depends on the filter, not on the page', async () => {
  const [, second] = await insert(3, 'wanted');
  await insert(5, 'other');
  const page = await select({ perPage: 1, after: second }, 'wanted');
  assert.deepEqual([page.total, page.rows.length, page.next], [3, 1, undefined]);
});

test('the total is exact up to 10,000 and stops there', async () => {
  const insertSeries = (from: number, to: number) =>
    sql`
    insert into organizations (guid, name, live, features, created_at, updated_at)
    select lpad(to_hex(i), 32, '0')::uuid, 'x', false, '{}', ${new Date(0)}, ${new Date(0)}
    from generate_series(${from}::int, ${to}::int) as i`.execute(queries);
  await insertSeries(1, 9_999);
  assert.equal((await select({})).total, 9_999);
  await insertSeries(10_000, 10_000);
  assert.equal((await select({})).total, 10_000);
  await insertSeries(10_001, 10_500);
  assert.equal((await select({})).total, 10_000);
});

test('keyset paging visits each row once while rows are added', async () => {
  const atStart = await insert(57);
  const seen: string[] = [];
  let after: string | undefined;
  do {
    const page = await select({ perPage: 10, after });
    seen.push(...guidsOf(page));
    after = page.next;
    await insert(7);
  } while (after !== undefined);
  assert.deepEqual(seen, atStart);
});

test('keyset paging continues after its last row was deleted', async () => {
  const [, , third, fourth] = await insert(5);
  await queries.deleteFrom('organizations').where('guid', '=', String(third)).execute();
  assert.equal(guidsOf(await select({ after: third }))[0], fourth);
});
