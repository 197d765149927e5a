import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type EmbeddedPostgres,
  startEmbeddedPostgres,
} from '../server/infrastructure/database/embedded/embedded-postgres.ts';
import { prepareTemplate } from '../testing/database/database.ts';
import { THROWAWAY_SETTINGS } from '../testing/database/throwaway-settings.ts';

/**
 * Nothing changes the order of rows between two steps. A paused session must not hold the locks with which the server
 * looks for deadlocks; the simulation looks itself.
 */
const SETTINGS = {
  ...THROWAWAY_SETTINGS,
  ...{ jit: 'off', synchronize_seqscans: 'off', deadlock_timeout: '1h', max_connections: '60' },
};

/** `environment`: how a process finds it. */
type Server = { environment: Record<string, string>; stop(): Promise<void> };

export type Servers = ReturnType<typeof createServers>;

/**
 * A PostgreSQL for each process that simulates. Databases of one server are not independent: dropping one makes the
 * sessions of all others forget where they write next, and with that the order of rows changes.
 */
export function createServers() {
  const all: Server[] = [];
  const free: Server[] = [];
  /** One at a time: the template is prepared by the environment of this process. */
  let starting: Promise<unknown> = Promise.resolve();
  let isStopped = false;

  return {
    async take(): Promise<Server> {
      const started = free.pop();
      if (started) return started;
      const next = starting.then(() => {
        if (isStopped) throw new Error('the servers are stopped');
        return startServer();
      });
      starting = next.catch(() => undefined);
      const server = await next;
      all.push(server);
      return server;
    },
    giveBack(server: Server): void {
      free.push(server);
    },
    async stop(): Promise<void> {
      isStopped = true;
      await starting;
      await Promise.all(all.map((server) => server.stop()));
    },
  };
}

async function startServer(): Promise<Server> {
  const folder = mkdtempSync(join(tmpdir(), 'portico-simulation-'));
  let postgres: EmbeddedPostgres | undefined;
  async function stop(): Promise<void> {
    await postgres?.stop();
    rmSync(folder, { recursive: true, force: true });
  }
  try {
    postgres = await startEmbeddedPostgres({ dataDir: folder, settings: SETTINGS });
    const urls = await prepareTemplate(folder, postgres);
    // Files of a seed that is ended midway are removed with the server.
    return { environment: { ...urls, TMPDIR: folder }, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
