import assert from 'node:assert/strict';
import type { Answer, TestApp } from '../app/app.ts';

type Item = Record<string, unknown>;

/** The objects of a list response. */
export function objectsOf({ status, body }: Answer): Item[] {
  assert.equal(status, 200, JSON.stringify(body));
  return body.objects as Item[];
}

export type AuditItem = Item & { changes: Record<string, unknown> };

/** The operator's audit records of an object, newest first. */
export async function auditRecordsOf(app: TestApp, objectId: string, action?: string): Promise<AuditItem[]> {
  const filter = action === undefined ? '' : `&action=${action}`;
  const answer = await app.operate('GET', `/audit_records?per_page=100&object_id=${objectId}${filter}`);
  return objectsOf(answer) as AuditItem[];
}

/** The only record, without its guid. */
export function soleRecord(records: readonly AuditItem[]): Item {
  const [record, ...more] = records;
  assert.ok(record && more.length === 0, `${records.length} records`);
  const { guid: _, ...rest } = record;
  return rest;
}
