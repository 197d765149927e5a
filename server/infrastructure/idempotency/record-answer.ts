import type { Queries } from '../database/database.ts';

/**
 * Records the answer of a request with an Idempotency-Key. A service that creates something calls it last in its
 * transaction, so that the change and its answer commit together.
 */
export type RecordAnswer<Row> = (transaction: Queries, row: Row) => Promise<void>;

/** For requests without an Idempotency-Key. */
export async function recordNothing(): Promise<void> {}
