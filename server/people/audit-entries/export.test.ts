import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from '../../infrastructure/database/paging/paging.ts';
import { exportCsv } from './export.ts';
import type { AuditEntry } from './schema.ts';

const entry: AuditEntry = {
  guid: '0'.repeat(32),
  actor_type: 'system',
  actor: 'portico',
  action: 'test.export',
  object_type: 'test',
  object_id: '1',
  changes: {},
  created_at: '2026-11-15T12:00:00.000Z',
};

test('an export ends after 50,000 rows', async () => {
  let lines = 0;
  const read = async ({ perPage }: Page) => ({ entries: new Array(perPage).fill(entry), next: entry.guid });
  for await (const piece of exportCsv(read)) lines += piece.split('\r\n').length - 1;
  assert.equal(lines, 1 + 50_000);
});

test('nothing is read before the client reads', async () => {
  let reads = 0;
  const read = async ({ after }: Page) => {
    reads += 1;
    return { entries: [entry], next: after === undefined ? entry.guid : undefined };
  };
  const lines = exportCsv(read);
  await lines.next();
  assert.equal(reads, 0);
  await lines.next();
  assert.equal(reads, 1);
  const rest: string[] = [];
  for await (const piece of lines) rest.push(piece);
  assert.deepEqual([reads, rest.length], [2, 1]);
});
