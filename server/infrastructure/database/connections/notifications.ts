import { sql } from 'kysely';
import pg from 'pg';
import { systemTimers, type Timers } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import type { Secret } from '../../runtime/secret.ts';
import { CONNECT_TIMEOUT_MS, KEEP_ALIVE, type Queries } from '../database.ts';
import { createConnectionWatch } from './connection-watch.ts';

/**
 * LISTEN and NOTIFY between nodes. They only wake, or carry what may get lost: whoever must not miss anything also
 * looks by itself from time to time, so a lost connection or message makes things slower, never wrong.
 */
export type Notifications = ReturnType<typeof createNotifications>;

/** Without a payload when something may have been announced while nobody listened. */
type Handler = (payload: string | undefined) => void;

const RECONNECT_AFTER_MS = 1_000;
/** For LISTEN and the probe, which need no work of the server. */
const ANSWER_TIMEOUT_MS = 10_000;
/** For the connection to close in order; after that it is destroyed. */
const CLOSE_WITHIN_MS = 2_000;
/** PostgreSQL takes less than 8,000 bytes. */
export const MAX_PAYLOAD_BYTES = 7_999;

export function createNotifications({
  url,
  queries,
  log,
  timers = systemTimers,
}: {
  url: Secret;
  queries: Queries;
  log: Log;
  /** For reconnecting, and for the health check of the connection. */
  timers?: Timers | undefined;
}) {
  const watch = createConnectionWatch({ timers, answerTimeoutMs: ANSWER_TIMEOUT_MS });
  const handlers = new Map<string, Handler>();
  let client: pg.Client | undefined;
  let connecting: Promise<void> | undefined;
  let cancelRetry = () => {};
  let closed = false;

  async function open(): Promise<void> {
    const opening = new pg.Client({
      connectionString: url.reveal(),
      application_name: 'portico listen',
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      // A probe may meet a LISTEN that is under way.
      pipeline: true,
      ...KEEP_ALIVE,
    });
    opening.on('notification', ({ channel, payload }) => handlers.get(channel)?.(payload));
    const lose = () => {
      if (client === opening) client = undefined;
    };
    opening.on('error', (error) => {
      log.warn({ reason: error.message }, 'the listening connection broke');
      lose();
    });
    opening.on('end', () => {
      watch.remove(opening);
      lose();
      if (!client) reconnectLater();
    });
    await opening.connect();
    watch.add(opening);
    if (closed) return opening.end();
    client = opening;
    for (const channel of handlers.keys()) await opening.query(`listen ${pg.escapeIdentifier(channel)}`);
    // Whatever was announced while nobody listened.
    for (const handler of handlers.values()) handler(undefined);
  }

  /** One at a time: a second connection would hear everything twice. */
  function connect(): Promise<void> {
    connecting ??= open().finally(() => {
      connecting = undefined;
    });
    return connecting;
  }

  function reconnectLater(): void {
    if (closed) return;
    cancelRetry();
    cancelRetry = timers.after(RECONNECT_AFTER_MS, () => {
      if (client) return;
      connect().catch((error: unknown) => log.debug({ reason: String(error) }, 'listening again failed'));
    });
  }

  return {
    async listen(channel: string, handler: Handler): Promise<void> {
      handlers.set(channel, handler);
      await connecting;
      if (client) await client.query(`listen ${pg.escapeIdentifier(channel)}`);
      else await connect();
    },

    /** Outside of any transaction: inside, PostgreSQL would queue up every commit behind it. */
    async notify(channel: string, payloads: readonly string[] = [''], sender = queries): Promise<void> {
      await sql`select pg_notify(${channel}, payload) from unnest(${payloads}::text[]) as p(payload)`.execute(
        sender,
      );
    },

    async close(): Promise<void> {
      closed = true;
      cancelRetry();
      const cancel = timers.after(CLOSE_WITHIN_MS, watch.destroyAll);
      await client?.end();
      cancel();
    },
  };
}
