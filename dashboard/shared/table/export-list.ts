import { csvLine } from '../../../server/people/audit-entries/csv.ts';
import { ApiError } from '../../api/api-error.ts';
import type { Api } from '../../api/client.ts';
import type { List } from '../../api/types.ts';
import { resolveTimes } from '../filters/time-range.ts';
import type { ListSource } from './use-list.ts';

const MAX_EXPORTED_ROWS = 10_000;
const PER_PAGE = 100;
const DEFAULT_WAIT_SECONDS = 5;

export type Format = 'csv' | 'json';
type Row = Record<string, unknown>;
type Options = { signal: AbortSignal; onProgress(rows: number): void };

/** Reads the newest rows of a list by keyset. A rate limit only delays the next page. */
export async function readAll(
  api: Pick<Api, 'get'>,
  { path, query }: ListSource,
  { signal, onProgress }: Options,
): Promise<{ rows: Row[]; isComplete: boolean }> {
  const filters = resolveTimes(query, Date.now());
  const rows: Row[] = [];
  let after: string | undefined;
  do {
    const page = { per_page: PER_PAGE, after };
    const list = await afterRateLimit(signal, () =>
      api.get<List<Row>>(path, { query: { ...filters, ...page }, signal }),
    );
    rows.push(...list.objects);
    onProgress(rows.length);
    after = list.next;
  } while (after !== undefined && rows.length < MAX_EXPORTED_ROWS);
  return { rows, isComplete: after === undefined };
}

async function afterRateLimit<Result>(signal: AbortSignal, call: () => Promise<Result>): Promise<Result> {
  for (;;)
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 429) throw error;
      await pause((error.retryAfterSeconds ?? DEFAULT_WAIT_SECONDS) * 1_000, signal);
    }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}

export function formatRows(rows: readonly Row[], format: Format): Blob {
  if (format === 'json') return new Blob([JSON.stringify(rows, null, 2)], { type: 'application/json' });
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const lines = rows.map((row) => csvLine(columns.map((column) => textOf(row[column]))));
  return new Blob([csvLine(columns), ...lines], { type: 'text/csv' });
}

function textOf(value: unknown): string {
  if (value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** "portico-audit-entries-2026-11-15.csv" */
export function filenameOf(label: string, format: Format, now: number): string {
  const name = label
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '');
  return `portico-${name}-${new Date(now).toISOString().slice(0, 10)}.${format}`;
}
