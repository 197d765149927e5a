import { sql } from 'kysely';
import pg from 'pg';
import type { Log } from '../runtime/log.ts';
import type { Secret } from '../runtime/secret.ts';
import type { Queries } from './database.ts';

/**
 * LISTEN and NOTIFY between nodes. They only wake: whoever listens also looks by itself from time to time,
 * so a lost connection or message makes things slower, never wrong.
 */
export type Notifications = ReturnType<typeof createNotifications>;

const RECONNECT_AFTER_MS = 1_000;

export function createNotifications({ url, queries, log }: { url: Secret; queries: Queries; log: Log }) {
  const handlers = new Map<string, () => void>();
  let client: pg.Client | undefined;
  let retry: NodeJS.Timeout | undefined;
  let closed = false;

  async function connect(): Promise<void> {
    const opening = new pg.Client({ connectionString: url.reveal(), application_name: 'portico listen' });
    opening.on('notification', ({ channel }) => handlers.get(channel)?.());
    opening.on('error', (error) => log.warn({ reason: error.message }, 'the listening connection broke'));
    opening.on('end', reconnectLater);
    await opening.connect();
    if (closed) return opening.end();
    client = opening;
    for (const channel of handlers.keys()) await opening.query(`listen ${pg.escapeIdentifier(channel)}`);
    // Whatever was announced while nobody listened.
    for (const handler of handlers.values()) handler();
  }

  function reconnectLater(): void {
    client = undefined;
    if (closed) return;
    retry = setTimeout(() => {
      connect().catch((error: unknown) => log.debug({ reason: String(error) }, 'listening again failed'));
    }, RECONNECT_AFTER_MS).unref();
  }

  return {
    async listen(channel: string, handler: () => void): Promise<void> {
      handlers.set(channel, handler);
      if (client) await client.query(`listen ${pg.escapeIdentifier(channel)}`);
      else await connect();
    },

    /** Outside of any transaction: inside, PostgreSQL would queue up every commit behind it. */
    async notify(channel: string): Promise<void> {
      await sql`select pg_notify(${channel}, '')`.execute(queries);
    },

    async close(): Promise<void> {
      closed = true;
      clearTimeout(retry);
      await client?.end();
    },
  };
}
