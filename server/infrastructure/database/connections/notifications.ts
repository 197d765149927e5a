import { sql } from 'kysely';
import pg from 'pg';
import { systemTimers, type Timers } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import type { Secret } from '../../runtime/secret.ts';
import { CONNECT_TIMEOUT_MS, type DatabaseStream, KEEP_ALIVE, type Queries } from '../database.ts';
import { createConnectionWatch } from './connection-watch.ts';

/**
 * LISTEN and NOTIFY between nodes. A notification only wakes a reader or carries data that may be lost. Readers that
 * must not miss anything also poll, so a lost message causes delay, never an error.
 */
export type Notifications = ReturnType<typeof createNotifications>;

/** Called without a payload after a reconnect, because messages may have been missed. */
type Handler = (payload: string | undefined) => void;

const RECONNECT_AFTER_MS = 1_000;
const ANSWER_TIMEOUT_MS = 10_000;
/** The connection is destroyed after this time. */
const CLOSE_WITHIN_MS = 2_000;
/** PostgreSQL's limit is 8,000 bytes, exclusive. */
export const MAX_PAYLOAD_BYTES = 7_999;

export function createNotifications({
  url,
  queries,
  log,
  timers = systemTimers,
  stream,
}: {
  url: Secret;
  queries: Queries;
  log: Log;
  /** For reconnecting, and for the health check of the connection. */
  timers?: Timers | undefined;
  stream?: DatabaseStream | undefined;
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
      // A probe may be sent while a LISTEN is in progress.
      pipeline: true,
      ...KEEP_ALIVE,
      ...(stream && { stream }),
    });
    opening.on('notification', ({ channel, payload }) => handlers.get(channel)?.(payload));
    const lose = () => {
      if (client === opening) client = undefined;
    };
    opening.on('error', (error) => {
      log.warn({ reason: error.message }, 'listening connection failed');
      lose();
    });
    opening.on('end', () => {
      watch.remove(opening);
      lose();
      if (!client) reconnectLater();
    });
    await opening.connect();
    watch.add(opening);
    try {
      for (const channel of handlers.keys()) await opening.query(`listen ${pg.escapeIdentifier(channel)}`);
    } catch (error) {
      // A standby refuses LISTEN on a healthy connection. The end of the connection schedules the next one.
      void opening.end();
      throw error;
    }
    if (closed) return opening.end();
    client = opening;
    // Messages may have been missed while disconnected.
    for (const handler of handlers.values()) handler(undefined);
  }

  /** One at a time: a second connection would receive everything twice. */
  function connect(): Promise<void> {
    connecting ??= open().finally(() => {
      connecting = undefined;
    });
    return connecting;
  }

  /** False when the connection is lost; the next one listens to every channel. */
  async function isListening(current: pg.Client, channel: string): Promise<boolean> {
    try {
      await current.query(`listen ${pg.escapeIdentifier(channel)}`);
      return true;
    } catch (error) {
      log.warn({ reason: String(error) }, 'listening connection failed');
      if (client === current) client = undefined;
      // It would receive the messages of the other channels, too.
      void current.end();
      return false;
    }
  }

  function reconnectLater(): void {
    if (closed) return;
    cancelRetry();
    cancelRetry = timers.after(RECONNECT_AFTER_MS, () => {
      if (client) return;
      connect().catch((error: unknown) =>
        log.debug({ reason: String(error) }, 'could not reconnect the listening connection'),
      );
    });
  }

  return {
    async listen(channel: string, handler: Handler): Promise<void> {
      handlers.set(channel, handler);
      await connecting;
      if (!(client && (await isListening(client, channel)))) await connect();
    },

    /** Outside of any transaction: PostgreSQL serialises the commits of transactions that notify. */
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
