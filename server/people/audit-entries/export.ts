import type { Page } from '../../infrastructure/database/paging/paging.ts';
import { csvLine } from './csv.ts';
import { AUDIT_COLUMNS, type AuditEntry } from './schema.ts';

/** Rows of one query, while the ones before are on their way to the client. */
const ROWS_AT_ONCE = 500;
/** Newest first; for older ones there is created_at_lt. */
const MAX_EXPORTED_ROWS = 50_000;

type Read = (page: Page) => Promise<{ entries: AuditEntry[]; next: string | undefined }>;

/** Page by page as the client takes it: a long record costs no more memory than a short one. */
export async function* exportCsv(read: Read): AsyncGenerator<string> {
  yield csvLine(AUDIT_COLUMNS);
  let after: string | undefined;
  for (let exported = 0; exported < MAX_EXPORTED_ROWS; exported += ROWS_AT_ONCE) {
    const { entries, next } = await read({ number: 0, perPage: ROWS_AT_ONCE, offset: 0, after });
    yield entries.map((entry) => csvLine(AUDIT_COLUMNS.map((column) => textOf(entry[column])))).join('');
    if (next === undefined) return;
    after = next;
  }
}

function textOf(value: AuditEntry[keyof AuditEntry]): string {
  if (value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
