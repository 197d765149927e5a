import { type CompiledQuery, Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import { LIST_SETTINGS } from '../server/infrastructure/database/connections/bounded-pool.ts';
import type { Queries } from '../server/infrastructure/database/database.ts';
import type { Tables } from '../server/infrastructure/database/tables.ts';
import type { TestDatabase } from './database.ts';

/** Measures lists in blocks of 8 KB, which do not depend on the machine. */
export type QueryCost = {
  /** The maximum number of blocks that a single statement read. */
  blocksOf(work: (queries: Queries) => Promise<unknown>): Promise<number>;
  close(): Promise<void>;
};

export function createQueryCost({ url }: TestDatabase): QueryCost {
  const asked: CompiledQuery[] = [];
  const pool = new pg.Pool({ connectionString: url.reveal(), max: 1 });
  // The database may be dropped before its last connection is closed.
  pool.on('error', () => {});
  pool.on('connect', (client) => void client.query(LIST_SETTINGS));
  const queries = new Kysely<Tables>({
    dialect: new PostgresDialect({ pool }),
    log: ({ query }) => void asked.push(query),
  });
  return {
    async blocksOf(work) {
      asked.length = 0;
      await work(queries);
      let most = 0;
      for (const { sql: text, parameters } of [...asked].filter((query) =>
        /^\s*(select|with)/.test(query.sql),
      )) {
        const explained = await pool.query(`explain (analyze, buffers, format json) ${text}`, [
          ...parameters,
        ]);
        const plan = explained.rows[0]['QUERY PLAN'][0].Plan;
        most = Math.max(most, plan['Shared Hit Blocks'] + plan['Shared Read Blocks']);
      }
      return most;
    },
    close: () => queries.destroy(),
  };
}
