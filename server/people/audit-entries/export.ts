import type { Page } from '../../infrastructure/database/paging/paging.ts';
import { csvLine } from './csv.ts';
import { AUDIT_COLUMNS, type AuditEntry } from './schema.ts';

/** Rows of one query. */
const ROWS_AT_ONCE = 500;
/** Newest first; created_at_lt reaches older ones. */
const MAX_EXPORTED_ROWS = 50_000;

type Read = (page: Page) => Promise<{ entries: AuditEntry[]; next: string | undefined }>;

/** Reads page by page as the client consumes it, so memory use does not depend on the length of the record. */
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
