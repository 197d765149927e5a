import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { beforeEach, test } from 'node:test';
import { sql } from 'kysely';
import { createFakeClock } from '../../../../testing/app/fake-clock.ts';
import { openTestDatabase, queriesOfOwner } from '../../../../testing/database/database.ts';
import { createGuids } from '../../runtime/guid.ts';
import { selectMergedPage } from './merged-paging.ts';
import { type Page, selectPage } from './paging.ts';

/** The merged pages equal those of one query over the same rows. */
const { testDatabase, database } = await openTestDatabase();
const { queries } = database;
const owner = queriesOfOwner(testDatabase);
const guids = createGuids({ clock: createFakeClock(), randomBytes });

beforeEach(async () => {
  await sql`truncate organizations cascade`.execute(owner);
});

/** One row per character, named after it; oldest first. */
async function insert(names: string): Promise<void> {
  const made = [...names].map(() => guids.next());
  await sql`
    insert into organizations (guid, name, live, features, created_at, updated_at)
    select guid, name, false, '{}', ${new Date(0)}, ${new Date(0)}
    from unnest(${made}::uuid[], ${[...names]}::text[]) as new (guid, name)`.execute(queries);
}

const named = (...names: string[]) =>
  queries.selectFrom('organizations').selectAll().where('name', 'in', names);

/** Returns the merged page after comparing it with that of one query. */
async function pageOf(names: readonly string[], page: Partial<Page>) {
  const wanted = { number: 0, perPage: 3, offset: 0, after: undefined, ...page };
  const parts = names.map((name) => named(name));
  const merged = await selectMergedPage(queries, parts, wanted);
  assert.deepEqual(merged, await selectPage(queries, named(...names), wanted));
  return { ...merged, shown: merged.rows.map(({ name }) => name).join('') };
}

test('empty queries give an empty page', async () => {
  assert.deepEqual((await pageOf(['a', 'b'], {})).rows, []);
});

test('rows of all queries are in one order, newest first, also when one query is exhausted', async () => {
  await insert('aabxbaaabb');
  const numbered = await Promise.all([0, 3, 6, 9].map((offset) => pageOf(['a', 'b'], { offset })));
  assert.deepEqual(
    numbered.map(({ shown }) => shown),
    ['bba', 'aab', 'baa', ''],
  );
  assert.deepEqual(
    numbered.map(({ next }) => next !== undefined),
    [true, true, false, false],
  );
});

test('keyset paging returns every row once, with the same total on every page', async () => {
  await insert('aaabcbcbcaxa');
  let walked = '';
  for (let next: string | undefined, pages = 0; pages < 10; pages++) {
    const page = await pageOf(['a', 'b', 'c'], { after: next });
    walked += page.shown;
    assert.equal(page.total, 11);
    next = page.next;
    if (next === undefined) break;
  }
  assert.equal(walked, 'aacbcbcbaaa');
});

test('counting stops at 10,000 for all queries together', async () => {
  await insert('a'.repeat(6_000) + 'b'.repeat(6_000));
  assert.equal((await pageOf(['a', 'b'], {})).total, 10_000);
  assert.equal((await pageOf(['a', 'b'], { offset: 9_997 })).shown, 'aaa');
  assert.equal((await pageOf(['a', 'c'], {})).total, 6_000);
});
