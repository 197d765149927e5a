// Run: PORTICO_CLIENT_ID=… PORTICO_CLIENT_SECRET=… SIGNING_KEYS=key1,key2 node server.ts (Node.js 22.18 or newer)
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { ApiError, createReceiver, expressAdapter, Portico } from '../../sdk/src/index.ts';
import { createFeed } from './feed.ts';
import { type Order, openWallet } from './wallet.ts';

const PAGE = join(import.meta.dirname, 'page');
const MAX_BODY_BYTES = 4_096;
const ASSETS: Readonly<Record<string, readonly [file: string, contentType: string]>> = {
  '/': ['index.html', 'text/html; charset=utf-8'],
  '/style.css': ['style.css', 'text/css; charset=utf-8'],
  '/page.js': ['page.js', 'text/javascript; charset=utf-8'],
  '/transfers.js': ['transfers.js', 'text/javascript; charset=utf-8'],
};
const HEADERS = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'self'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
};

const { PORTICO_CLIENT_ID, PORTICO_CLIENT_SECRET, PORTICO_URL, SIGNING_KEYS, PORT = '4020' } = process.env;
if (!PORTICO_CLIENT_ID || !PORTICO_CLIENT_SECRET)
  throw new Error('Set PORTICO_CLIENT_ID and PORTICO_CLIENT_SECRET to a key pair of the sandbox.');
if (!SIGNING_KEYS) throw new Error('Set SIGNING_KEYS to one or more signing keys, separated by commas.');

const portico = new Portico({
  clientId: PORTICO_CLIENT_ID,
  clientSecret: PORTICO_CLIENT_SECRET,
  scopes: [
    ...(['banks:read', 'customers:read', 'customers:execute', 'accounts:read', 'accounts:execute'] as const),
    ...(['transfers:read', 'transfers:execute'] as const),
  ],
  ...(PORTICO_URL ? { baseUrl: PORTICO_URL } : {}),
});
const wallet = await openWallet(portico);
const feed = await createFeed(wallet);
const receive = expressAdapter(
  createReceiver({
    keys: SIGNING_KEYS.split(','),
    on: {
      'transfer.storing': feed.receive,
      'transfer.pending': feed.receive,
      'transfer.holding': feed.receive,
      'transfer.reviewing': feed.receive,
      'transfer.completed': feed.receive,
      'transfer.failed': feed.receive,
    },
  }),
);

async function send(request: IncomingMessage, response: ServerResponse): Promise<void> {
  // Pages of other sites cannot send this content type without permission.
  if (request.headers['content-type'] !== 'application/json') return answer(response, 415);
  if (!(Number(request.headers['content-length']) <= MAX_BODY_BYTES)) return answer(response, 413);
  const transfer = await wallet.send((await json(request)) as Order);
  if (!transfer) return answer(response, 404, { message: 'This account is not in your wallet.' });
  feed.add(transfer);
  answer(response, 201, { guid: transfer.guid });
}

async function route(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method = '' } = request;
  const { pathname } = new URL(request.url ?? '/', 'http://localhost');
  const asset = ASSETS[pathname];
  if (method === 'POST' && pathname === '/webhooks') return receive(request, response);
  if (method === 'POST' && pathname === '/transfers') return send(request, response);
  if (method !== 'GET') return answer(response, 405);
  if (pathname === '/live') return feed.connect(response);
  if (!asset) return answer(response, 404);
  response.writeHead(200, { ...HEADERS, 'content-type': asset[1] });
  response.end(await readFile(join(PAGE, asset[0])));
}

function answer(response: ServerResponse, status: number, body: object = {}): void {
  response.writeHead(status, { ...HEADERS, 'content-type': 'application/json' }).end(JSON.stringify(body));
}

const server = createServer((request, response) => {
  route(request, response).catch((error: Error) => {
    if (response.headersSent || response.destroyed) return response.destroy();
    if (error instanceof SyntaxError) return answer(response, 400, { message: 'The body is not JSON.' });
    if (error instanceof ApiError) return answer(response, error.status, { message: error.message });
    console.error(error);
    answer(response, 500, { message: 'The server could not do this' });
  });
});
server.listen(Number(PORT), '127.0.0.1', () => {
  console.log(`Open http://localhost:${(server.address() as AddressInfo).port}`);
});
