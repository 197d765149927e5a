import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { createTestApp } from '../../../testing/app/app.ts';
import { REMOVED } from './removal.ts';
import { ENCRYPTED } from './secrets.ts';
import { DERIVED, NOT_TRANSFERRED, TRANSFERRED } from './tables-store.ts';

/** A new table or secret column fails here until it is transferred or named with a reason. */
const { database } = await createTestApp();
const names = TRANSFERRED.map(({ name }) => name);

async function select(query: ReturnType<typeof sql<{ name: string }>>): Promise<string[]> {
  const { rows } = await query.execute(database.queries);
  return rows.map(({ name }) => name);
}

test('every table is transferred, or named with the reason why not', async () => {
  const tables = await select(sql`
    select relname as name from pg_class
    where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p') and not relispartition`);
  assert.deepEqual([...names, ...Object.keys(NOT_TRANSFERRED)].toSorted(), tables.toSorted());
  assert.equal(new Set([...names, ...Object.keys(NOT_TRANSFERRED)]).size, tables.length, 'each once');
});

test('every table with an Organization is transferred, or its rows are written by triggers', async () => {
  const owned = await select(sql`
    select relname as name from pg_class join pg_attribute on attrelid = pg_class.oid
    where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p') and not relispartition
      and attname = 'organization_guid'`);
  const derived = new Set(DERIVED.map(({ name }) => name));
  const missing = owned.filter((name) => !names.includes(name) && !derived.has(name));
  assert.deepEqual(missing, []);
});

test('a table is inserted after the tables that it refers to', async () => {
  const { rows } = await sql<{ child: string; parent: string }>`
    select conrelid::regclass::text as child, confrelid::regclass::text as parent from pg_constraint
    where contype = 'f' and conrelid <> confrelid`.execute(database.queries);
  const late = rows.filter(
    ({ child, parent }) => names.includes(child) && names.indexOf(parent) > names.indexOf(child),
  );
  assert.deepEqual(late, []);
});

test('a removed table follows the tables by which its rows are found', () => {
  const late = REMOVED.flatMap(({ name, rows }) => {
    const { sql: condition } = rows(sql`null`).compile(database.queries);
    const read = Array.from(condition.matchAll(/(?:from|join) (\w+)/g), ([, table = '']) => table);
    return read.filter((table) => names.indexOf(table) > names.indexOf(name)).map((table) => [name, table]);
  });
  assert.deepEqual(late, []);
});

test('every encrypted column is encrypted under the new master key', async () => {
  const columns = await select(sql`
    select relname || '.' || attname as name from pg_attribute join pg_class on pg_class.oid = attrelid
    where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p') and not relispartition
      and attname like '%\_encrypted'`);
  const known = Object.entries(ENCRYPTED).map(([table, { column }]) => `${table}.${column}`);
  const others = ['applications.secret_hash_key_encrypted', 'signing_keys.private_jwk_encrypted'];
  assert.deepEqual([...known, ...others].toSorted(), columns.toSorted());
});
