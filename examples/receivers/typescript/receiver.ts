// Run: SIGNING_KEYS=key1,key2 node receiver.ts (Node.js 22.18 or newer)
// region imports
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
// endregion

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

const MAX_BODY_BYTES = 64 * 1024;
const MAX_WAITING = 1_000;
const MAX_REMEMBERED = 100_000;

// region verify
const TOLERANCE_SECONDS = 300;

/** `body` are the bytes as they arrived. During a roll there are two signing keys. */
export function isGenuine(
  body: Buffer,
  headers: IncomingHttpHeaders,
  signingKeys: readonly string[],
): boolean {
  const id = headers['webhook-id'];
  const timestamp = headers['webhook-timestamp'];
  const age = Math.abs(Date.now() / 1_000 - Number(timestamp));
  if (!(age <= TOLERANCE_SECONDS)) return false;
  const given = String(headers['webhook-signature'])
    .split(' ')
    .map((text) => Buffer.from(text));
  return signingKeys.some((key) => {
    const hmac = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body);
    const expected = Buffer.from(`v1,${hmac.digest('base64')}`);
    return given.some((text) => text.length === expected.length && timingSafeEqual(text, expected));
  });
}
// endregion

type WebhookEvent = { guid: string; event_type: string; object_guid: string; environment: string };

const signingKeys = (process.env.SIGNING_KEYS ?? '').split(/[\s,]+/).filter((key) => key !== '');
if (signingKeys.length === 0)
  throw new Error('Set SIGNING_KEYS to one or more signing keys, separated by commas.');

const remembered = new Set<string>();
const waiting: WebhookEvent[] = [];

/** Your work. It runs after the answer. */
async function handle(event: WebhookEvent): Promise<void> {
  console.log(`received ${event.event_type} ${event.guid}`);
}

async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.method !== 'POST') return void response.writeHead(405, { allow: 'POST' }).end();
  const body = await readBody(request);
  if (body === undefined) return void response.writeHead(413, { connection: 'close' }).end();
  if (!isGenuine(body, request.headers, signingKeys)) return void response.writeHead(401).end();
  const event = JSON.parse(body.toString()) as WebhookEvent;
  if (remembered.has(event.guid)) {
    console.log(`duplicate ${event.guid}`);
    return void response.writeHead(204).end();
  }
  if (waiting.length >= MAX_WAITING) return void response.writeHead(503, { 'retry-after': '10' }).end();
  remember(event.guid);
  waiting.push(event);
  response.writeHead(204).end();
  if (waiting.length === 1) setImmediate(work);
}

async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** A restart forgets these: use a table with a unique guid if your work must not run twice. */
function remember(guid: string): void {
  remembered.add(guid);
  const [oldest] = remembered;
  if (remembered.size > MAX_REMEMBERED && oldest !== undefined) remembered.delete(oldest);
}

async function work(): Promise<void> {
  for (let event = waiting[0]; event; waiting.shift(), event = waiting[0])
    await handle(event).catch((error: unknown) => console.error('failed', event?.guid, error));
}

const server = createServer((request, response) => {
  receive(request, response).catch(() => response.destroy());
});
server.listen(Number(process.env.PORT ?? 0), '127.0.0.1', () => {
  console.log(`Listening on http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
