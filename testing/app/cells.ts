import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { sql } from 'kysely';
import type { Actor } from '../../server/infrastructure/audit/service.ts';
import { type Failure, isFailure } from '../../server/infrastructure/runtime/failure.ts';
import { Secret } from '../../server/infrastructure/runtime/secret.ts';
import type { Imported } from '../../server/operator/transfer/import.ts';
import { columnsOf } from '../../server/operator/transfer/rows-store.ts';
import { TRANSFERRED } from '../../server/operator/transfer/tables-store.ts';
import { createDispatchingApp } from '../webhooks/webhooks.ts';
import type { TestApp } from './app.ts';
import { createFakeClock } from './fake-clock.ts';

export const KEY = new Secret('transfer-key-of-the-tests-of-transfers');
export const operator: Actor = { type: 'operator', id: 'operator' };

/** Two installations with their own databases, storages and master keys. */
export async function createCells() {
  const clock = createFakeClock();
  const old = await createDispatchingApp({ clock });
  const fresh = await createDispatchingApp({
    clock,
    environment: {
      PORTICO_MASTER_KEY: 'b2'.repeat(32),
      PORTICO_BASE_URL: 'http://localhost:4100',
      PORTICO_PRODUCTION_AUTH_URL: 'http://production.localhost:4000',
    },
  });
  return { clock, old, fresh };
}

export async function exportFrom(app: TestApp, guid: string, key = KEY): Promise<Buffer> {
  const file = await app.transfers.export(operator, guid, key);
  assert.ok(!isFailure(file), isFailure(file) ? file.message : '');
  return buffer(file);
}

export function importInto(app: TestApp, file: Buffer, key = KEY): Promise<Imported | Failure> {
  return app.transfers.import(operator, Readable.from(chunksOf(file)), key);
}

/** Of odd sizes, as a network delivers them. */
function* chunksOf(file: Buffer): Generator<Buffer> {
  for (let start = 0, size = 1; start < file.length; start += size, size = 7_919)
    yield file.subarray(start, start + size);
}

/** Secrets differ in the two databases, an import gives new grants and ends the freeze. */
const DIFFERENT = /_encrypted$|^secret_hash_key|^grant_guid$|^frozen|^freezing_at$|^removing_at$/;

/** All rows of the Organization by table, without what differs. */
export async function rowsOf({ database }: TestApp, guid: string): Promise<Record<string, string[]>> {
  const tables: Record<string, string[]> = {};
  for (const { name, rows } of TRANSFERRED) {
    const columns = (await columnsOf(database.queries, name)).filter((column) => !DIFFERENT.test(column));
    const found = await sql<{ row: string }>`
      select row_to_json(r)::text as row from (
        select ${sql.join(columns.map((column) => sql`t.${sql.id(column)}`))} from ${sql.table(name)} as t
        where ${rows(sql`${sql.lit(guid)}::uuid`)}
      ) as r order by 1`.execute(database.queries);
    tables[name] = found.rows.map(({ row }) => row);
  }
  return tables;
}
