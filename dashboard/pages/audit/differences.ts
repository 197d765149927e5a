import type { AuditEntry } from '../../api/types.ts';

/** One changed field. `added` and `removed` are the entries by which two lists differ. */
export type Difference = {
  field: string;
  before: string | undefined;
  after: string | undefined;
  list?: { added: string[]; removed: string[]; unchanged: number } | undefined;
};

export function differencesOf({ before = {}, changes }: AuditEntry): Difference[] {
  const fields = new Set([...Object.keys(before), ...Object.keys(changes)]);
  return [...fields].map((field) => ({
    field,
    before: formatValue(before[field]),
    after: formatValue(changes[field]),
    list: listDifference(before[field], changes[field]),
  }));
}

function listDifference(before: unknown, after: unknown): Difference['list'] {
  if (!Array.isArray(before) || !Array.isArray(after)) return undefined;
  const [old, current] = [before.map(String), after.map(String)];
  const removed = old.filter((entry) => !current.includes(entry));
  return {
    added: current.filter((entry) => !old.includes(entry)),
    removed,
    unchanged: old.length - removed.length,
  };
}

/** Undefined for what has no value: a field that was not set before, or is empty. */
function formatValue(value: unknown): string | undefined {
  if (value === undefined || value === null || value === '') return undefined;
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.map(String).join(', ');
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
