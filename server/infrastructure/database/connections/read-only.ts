import { type QueryExecutorProvider, sql } from 'kysely';

/** SQLSTATE of a write on a standby, and of one in a session whose transactions are read-only by a setting. */
export const READ_ONLY_TRANSACTION = '25006';

/** Answers `on` in both cases, outside of a transaction. */
export const READ_ONLY_PROBE = 'show transaction_read_only';

type Answer = { transaction_read_only: 'on' | 'off' };

export function isReadOnlyAnswer({ rows }: { rows: readonly unknown[] }): boolean {
  return (rows[0] as Answer | undefined)?.transaction_read_only === 'on';
}

export async function isReadOnly(queries: QueryExecutorProvider): Promise<boolean> {
  return isReadOnlyAnswer(await sql.raw(READ_ONLY_PROBE).execute(queries));
}
