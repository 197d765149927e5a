import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { readOrCreatePassword } from '../../server/infrastructure/database/embedded/cluster/cluster-password.ts';
import { startEmbeddedPostgres } from '../../server/infrastructure/database/embedded/embedded-postgres.ts';
import { databaseUrl } from '../../server/infrastructure/database/embedded/server/readiness.ts';

/** The embedded PostgreSQL as `npm start` runs it, with fsync on, in a folder that is removed afterwards. */
export async function startPostgres(
  resources: AsyncDisposableStack,
  settings: Readonly<Record<string, string>> = {},
) {
  const folder = mkdtempSync(join(tmpdir(), 'portico-bench-'));
  resources.defer(() => rmSync(folder, { recursive: true, force: true }));
  // PostgreSQL may run as another user.
  chmodSync(folder, 0o711);
  const dataDir = join(folder, 'database');
  const postgres = await startEmbeddedPostgres({ dataDir, settings });
  if (resources.disposed) {
    await postgres.stop();
    throw new Error('stopped during the start of PostgreSQL');
  }
  resources.defer(() => postgres.stop());
  const { url, ownerUrl } = postgres;
  const port = Number(new URL(ownerUrl).port);
  const superuserUrl = databaseUrl({ port, password: await readOrCreatePassword(dataDir, true) });

  type Statement = { text: string; values?: unknown[] };

  /** In one session, as superuser and without a statement timeout; returns the rows of the last statement. */
  async function queryAll<Row extends pg.QueryResultRow>(...statements: Statement[]): Promise<Row[]> {
    const client = new pg.Client({ connectionString: superuserUrl });
    await client.connect();
    try {
      let rows: Row[] = [];
      for (const statement of statements) ({ rows } = await client.query<Row>(statement));
      return rows;
    } finally {
      await client.end();
    }
  }

  return {
    folder,
    url,
    ownerUrl,
    queryAll,
    query: <Row extends pg.QueryResultRow>(text: string, values: unknown[] = []) =>
      queryAll<Row>({ text, values }),
  };
}
