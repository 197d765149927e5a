import { type CompiledQuery, Kysely, PostgresDialect } from 'kysely';
import type pg from 'pg';
import { LIST_SETTINGS } from '../../server/infrastructure/database/connections/bounded-pool.ts';
import type { Queries } from '../../server/infrastructure/database/database.ts';
import type { Tables } from '../../server/infrastructure/database/tables.ts';
import { createTestPool, type TestDatabase } from './database.ts';

/** Measures lists in blocks of 8 KB, which do not depend on the machine. */
export type QueryCost = {
  /** The maximum number of blocks that a single statement read. */
  blocksOf(work: (queries: Queries) => Promise<unknown>): Promise<number>;
  close(): Promise<void>;
};

export function createQueryCost({ url }: TestDatabase): QueryCost {
  const asked: CompiledQuery[] = [];
  const pool = createTestPool(url, { max: 1 });
  // Without their timeout, which a slow machine exceeds.
  pool.on('connect', (client) => void client.query(`${LIST_SETTINGS}; set statement_timeout = 0`));
  const queries = new Kysely<Tables>({
    dialect: new PostgresDialect({ pool }),
    log: ({ query }) => void asked.push(query),
  });
  return {
    async blocksOf(work) {
      asked.length = 0;
      await work(queries);
      let most = 0;
      const client = await pool.connect();
      try {
        await client.query('begin');
        for (const { sql: text, parameters } of [...asked]) {
          // The planner settings of the transaction.
          if (text.includes('set_config(')) await client.query(text, [...parameters]);
          else if (/^\s*(select|with)/.test(text))
            most = Math.max(most, await blocksRead(client, text, parameters));
        }
      } finally {
        await client.query('rollback');
        client.release();
      }
      return most;
    },
    close: () => queries.destroy(),
  };
}

async function blocksRead(
  client: pg.PoolClient,
  text: string,
  parameters: readonly unknown[],
): Promise<number> {
  const explained = await client.query(`explain (analyze, buffers, format json) ${text}`, [...parameters]);
  const plan = explained.rows[0]['QUERY PLAN'][0].Plan;
  return plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
}
