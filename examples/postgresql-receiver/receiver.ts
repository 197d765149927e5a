// Run: npm install pg; SIGNING_KEYS=key1,key2 DATABASE_URL=postgres://… node receiver.ts (Node.js 22.18 or newer)
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';

const TOLERANCE_SECONDS = 300;
const MAX_BODY_BYTES = 64 * 1024;
const POLL_MS = 1_000;
/** The deletion of old events reads the whole table. */
const FORGET_EVERY_MS = 3_600_000;

/** The events are kept longer than Portico keeps them, so that a redelivered event is still known. */
const SCHEMA = `create table if not exists webhook_events (
  guid text primary key,
  body jsonb not null,
  due_at timestamptz not null default now(),
  received_at timestamptz not null default now(),
  handled_at timestamptz
);
create index if not exists webhook_events_due on webhook_events (due_at) where handled_at is null;`;
const TAKE = `select guid, body from webhook_events where handled_at is null and due_at <= now()
  order by due_at limit 1 for update skip locked`;
const FORGET = "delete from webhook_events where handled_at < now() - interval '60 days'";

type WebhookEvent = { guid: string; event_type: string; object_guid: string };

const signingKeys = (process.env.SIGNING_KEYS ?? '').split(/[\s,]+/).filter((key) => key !== '');
if (signingKeys.length === 0)
  throw new Error('Set SIGNING_KEYS to one or more signing keys, separated by commas.');
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 5 });
// The next query opens another connection.
pool.on('error', (error) => console.error(error.message));
// The pool listens to idle connections only, and an error without a listener ends the process. Queries fail with it, too.
pool.on('connect', (client) => client.on('error', () => undefined));

/** Your work, in the transaction that marks the event as handled: both happen once, or neither. */
async function handle(_transaction: pg.PoolClient, event: WebhookEvent): Promise<void> {
  console.log(`received ${event.event_type} ${event.guid}`);
}

function isGenuine(body: Buffer, headers: IncomingHttpHeaders): boolean {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures } = headers;
  if (!(Math.abs(Date.now() / 1_000 - Number(timestamp)) <= TOLERANCE_SECONDS)) return false;
  const given = String(signatures)
    .split(' ')
    .map((text) => Buffer.from(text));
  return signingKeys.some((key) => {
    const hmac = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body);
    const expected = Buffer.from(`v1,${hmac.digest('base64')}`);
    return given.some((text) => text.length === expected.length && timingSafeEqual(text, expected));
  });
}

/** Answers when the event is stored. A duplicate changes nothing. */
async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) return void response.writeHead(413, { connection: 'close' }).end();
    chunks.push(chunk);
  }
  const body = Buffer.concat(chunks);
  if (!isGenuine(body, request.headers)) return void response.writeHead(401).end();
  const { guid } = JSON.parse(body.toString()) as WebhookEvent;
  const insert = 'insert into webhook_events (guid, body) values ($1, $2) on conflict do nothing';
  const { rowCount } = await pool.query(insert, [guid, body.toString()]);
  if (rowCount === 0) console.log(`duplicate ${guid}`);
  response.writeHead(204).end();
}

/** Handles one event; returns whether there was one. Several processes can do this at once. */
async function handleNext(): Promise<boolean> {
  const transaction = await pool.connect();
  try {
    await transaction.query('begin');
    const { rows } = await transaction.query<{ guid: string; body: WebhookEvent }>(TAKE);
    const [row] = rows;
    if (row) {
      await transaction.query('savepoint work');
      try {
        await handle(transaction, row.body);
        await transaction.query('update webhook_events set handled_at = now() where guid = $1', [row.guid]);
      } catch (error) {
        console.error('failed', row.guid, error);
        await transaction.query('rollback to savepoint work');
        const postpone = "update webhook_events set due_at = now() + interval '1 minute' where guid = $1";
        await transaction.query(postpone, [row.guid]);
      }
    }
    await transaction.query('commit');
    transaction.release();
    return row !== undefined;
  } catch (error) {
    // Closes the connection, and PostgreSQL rolls back.
    transaction.release(true);
    throw error;
  }
}

/** Whether it succeeded. */
function run(statement: string): Promise<boolean> {
  return pool.query(statement).then(
    () => true,
    (error: Error) => {
      console.error(error.message);
      return false;
    },
  );
}

async function work(): Promise<never> {
  let forgottenAt = 0;
  for (;;) {
    const found = await handleNext().catch((error: Error) => void console.error(error.message));
    if (found) continue;
    if (Date.now() - forgottenAt >= FORGET_EVERY_MS && (await run(FORGET))) forgottenAt = Date.now();
    await delay(POLL_MS);
  }
}

// The database may be away, and another process may create the table at the same time.
while (!(await run(SCHEMA))) await delay(POLL_MS);
const server = createServer((request, response) => {
  receive(request, response).catch((error: Error) => {
    console.error(error.message);
    // Portico sends the event again.
    response.writeHead(503, { 'retry-after': '10' }).end();
  });
});
server.listen(Number(process.env.PORT ?? 0), '127.0.0.1', () => {
  console.log(`Listening on http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
await work();
