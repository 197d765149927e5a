import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedPostgres } from '../server/infrastructure/database/embedded/embedded-postgres.ts';
import { prepareTemplate } from '../testing/database.ts';

/** Nothing outlives a run, and no maintenance changes the order of rows between two steps. */
const SETTINGS = {
  ...{ fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', wal_level: 'minimal' },
  ...{ max_wal_senders: '0', max_wal_size: '1GB', checkpoint_timeout: '1h', file_copy_method: 'clone' },
  ...{ autovacuum: 'off', scram_iterations: '1', max_connections: '300' },
};

/** A PostgreSQL for one run, unless `npm test` has started one. */
export async function startServer(): Promise<{ stop(): Promise<void> }> {
  if (process.env.TEST_DATABASE_URL) return { stop: async () => {} };
  const folder = mkdtempSync(join(tmpdir(), 'portico-simulation-'));
  const postgres = await startEmbeddedPostgres({ dataDir: folder, settings: SETTINGS });
  await prepareTemplate(folder, postgres);
  return {
    async stop() {
      await postgres.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
