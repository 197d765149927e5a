import { sql } from 'kysely';
import type { Queries } from '../database/database.ts';

export type Use = { key: string; windowStartedAt: Date; times: number };

/** Adds the uses to their counters and returns the count after each, in the given order; equal keys add up. */
export async function countUses(queries: Queries, uses: readonly Use[]): Promise<number[]> {
  const sums = new Map<string, { use: Use; times: number }>();
  for (const use of uses) {
    const id = idOf(use);
    const sum = sums.get(id);
    if (sum) sum.times += use.times;
    else sums.set(id, { use, times: use.times });
  }
  // Sorted, so that concurrent nodes lock the counters in the same order.
  const ordered = [...sums.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, sum]) => sum);
  const { rows } = await sql<{ key: string; window_started_at: Date; used: number }>`
    insert into rate_limits (key, window_started_at, used)
    select * from unnest(
      ${ordered.map(({ use }) => use.key)}::text[],
      ${ordered.map(({ use }) => use.windowStartedAt)}::timestamptz[],
      ${ordered.map(({ times }) => times)}::int[])
    on conflict (key, window_started_at) do update set used = rate_limits.used + excluded.used
    returning key, window_started_at, used`.execute(queries);

  const before = new Map(
    rows.map((row) => {
      const id = idOf({ key: row.key, windowStartedAt: row.window_started_at });
      return [id, row.used - (sums.get(id)?.times ?? 0)];
    }),
  );
  return uses.map((use) => {
    const id = idOf(use);
    const used = (before.get(id) ?? 0) + use.times;
    before.set(id, used);
    return used;
  });
}

export async function deleteWindowsBefore(queries: Queries, moment: Date): Promise<number> {
  const { numDeletedRows } = await queries
    .deleteFrom('rate_limits')
    .where('window_started_at', '<', moment)
    .executeTakeFirst();
  return Number(numDeletedRows);
}

function idOf({ key, windowStartedAt }: Omit<Use, 'times'>): string {
  return `${windowStartedAt.getTime()} ${key}`;
}
