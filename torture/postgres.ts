import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { startEmbeddedPostgres } from '../server/infrastructure/database/embedded/embedded-postgres.ts';
import { Secret } from '../server/infrastructure/runtime/secret.ts';
import { findServicePort } from '../testing/app/serve.ts';

/** Connections of five processes, of their predecessors that the proxies still hold, and of this one. */
const SETTINGS = {
  max_connections: '400',
  max_wal_size: '128MB',
  min_wal_size: '32MB',
  // New segments need new space, so that a full disk also meets the write-ahead log.
  wal_recycle: 'off',
};
const CONNECT_TIMEOUT_MS = 2_000;

export type Postgres = Awaited<ReturnType<typeof startPostgres>>;

/** The embedded PostgreSQL on one port, so that it can be stopped and started again below its clients. */
export async function startPostgres(dataDir: string) {
  const port = await findServicePort();
  const launch = () => startEmbeddedPostgres({ dataDir, settings: SETTINGS, choosePort: async () => port });
  let server = await launch();
  let isRunning = true;
  watchEnd();

  function watchEnd(): void {
    const watched = server;
    void watched.ended.then(() => {
      if (watched === server) isRunning = false;
    });
  }

  return {
    url: new Secret(server.url),
    ownerUrl: new Secret(server.ownerUrl),
    isRunning: () => isRunning,

    /** The signal of `pg_ctl stop -m immediate`, which itself refuses to run as root. */
    async stopImmediately(): Promise<void> {
      const [pid] = (await readFile(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8')).split('\n');
      process.kill(Number(pid), 'SIGQUIT');
      await server.ended;
      isRunning = false;
    },

    /** Also after it has ended by itself, as on a full disk. */
    async ensureRunning(): Promise<void> {
      if (isRunning) return;
      await server.stop();
      server = await launch();
      isRunning = true;
      watchEnd();
    },

    async select(sql: string): Promise<number> {
      const client = new pg.Client({
        connectionString: server.url,
        connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
        query_timeout: CONNECT_TIMEOUT_MS,
      });
      client.on('error', () => undefined);
      try {
        await client.connect();
        const { rows } = await client.query({ text: sql, rowMode: 'array' });
        return Number(rows[0]?.[0]);
      } finally {
        await client.end().catch(() => undefined);
      }
    },

    stop: () => server.stop(),
  };
}
