import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, test } from 'node:test';
import pg from 'pg';
import { createTestDatabase } from '../../testing/database/database.ts';

const page = await readFile(join(import.meta.dirname, 'runbook.md'), 'utf8');
const database = await createTestDatabase();
const client = new pg.Client({ connectionString: database.url.reveal() });
await client.connect();
after(async () => {
  await client.end();
  await database.drop();
});

test('docs/operators/runbook.md: every query runs as the service role', async () => {
  const queries = Array.from(page.matchAll(/```sql\n(.*?)```/gs), ([, query = '']) => query);
  assert.ok(queries.length >= 8);
  for (const query of queries)
    await assert.doesNotReject(client.query({ text: query, rowMode: 'array' }), query);
});
