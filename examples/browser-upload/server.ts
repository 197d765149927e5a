// Run: PORTICO_CLIENT_ID=… PORTICO_CLIENT_SECRET=… node server.ts (Node.js 22.18 or newer)
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { stripTypeScriptTypes } from 'node:module';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { ApiError, FileFailedError, type NewFile, Portico } from '../../sdk/src/index.ts';

const PAGE = join(import.meta.dirname, 'page');
const CLONE = join(import.meta.dirname, '..', '..');
const MAX_BODY_BYTES = 4_096;
const ASSETS: Readonly<Record<string, readonly [file: string, contentType: string]>> = {
  '/': ['index.html', 'text/html; charset=utf-8'],
  '/style.css': ['style.css', 'text/css; charset=utf-8'],
  '/page.js': ['page.js', 'text/javascript; charset=utf-8'],
};
const HEADERS = {
  'cache-control': 'no-store',
  // `connect-src`: the page sends the content to Portico itself.
  'content-security-policy': "default-src 'self'; connect-src *; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
};

const { PORTICO_CLIENT_ID, PORTICO_CLIENT_SECRET, PORTICO_URL, PORT = '4021' } = process.env;
if (!PORTICO_CLIENT_ID || !PORTICO_CLIENT_SECRET)
  throw new Error('Set PORTICO_CLIENT_ID and PORTICO_CLIENT_SECRET to a key pair of the sandbox.');
const portico = new Portico({
  clientId: PORTICO_CLIENT_ID,
  clientSecret: PORTICO_CLIENT_SECRET,
  scopes: ['banks:read', 'customers:execute', 'files:execute', 'files:read'],
  ...(PORTICO_URL ? { baseUrl: PORTICO_URL } : {}),
});

/** In your program: the customer who is logged in. */
const customerGuid = await createCustomer();

async function createCustomer(): Promise<string> {
  const [bank] = await portico.banks.list().toArray({ limit: 1 });
  if (!bank) throw new Error('This key pair has no bank. Create one in the dashboard.');
  const name = 'Ada Lovelace';
  return (await portico.customers.create({ type: 'individual', name, bank_guid: bank.guid })).guid;
}

/** The page gets the URL, never the key or a token. */
async function createFile(request: IncomingMessage, response: ServerResponse): Promise<void> {
  // Pages of other sites cannot send this content type without permission.
  if (request.headers['content-type'] !== 'application/json') return answer(response, 415);
  if (!(Number(request.headers['content-length']) <= MAX_BODY_BYTES)) return answer(response, 413);
  const { type, filename, content_type } = (await json(request)) as NewFile;
  const created = await portico.files.create({ type, filename, content_type, customer_guid: customerGuid });
  answer(response, 201, { guid: created.guid, upload_url: created.upload_url });
}

/** Answers when the content is checked. */
async function waitForChecks(guid: string, response: ServerResponse): Promise<void> {
  const closed = new AbortController();
  const { signal } = closed;
  response.once('close', () => closed.abort());
  const { customer_guid } = await portico.files.get(guid, { signal });
  // The key can read the files of every customer, the page only its own.
  if (customer_guid !== customerGuid) return answer(response, 404, { message: 'No such file' });
  const { state, failure_code } = await portico.files.wait(guid, { signal }).catch((error) => {
    if (error instanceof FileFailedError) return error.file;
    throw error;
  });
  answer(response, 200, { state, failure_code });
}

/** The SDK of this clone as JavaScript. If you install it from npm, serve its folder `dist` or bundle it. */
async function serveSdk(path: string, response: ServerResponse): Promise<void> {
  const source = await readFile(join(CLONE, path), 'utf8');
  response.writeHead(200, { ...HEADERS, 'content-type': 'text/javascript; charset=utf-8' });
  response.end(stripTypeScriptTypes(source));
}

async function route(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { pathname } = new URL(request.url ?? '/', 'http://localhost');
  const asset = ASSETS[pathname];
  const [, module] = /^\/(sdk\/src\/(?:[a-z-]+\/)*[a-z-]+\.ts)$/.exec(pathname) ?? [];
  const [, guid] = /^\/files\/([0-9a-f]{32})$/.exec(pathname) ?? [];
  if (request.method === 'POST' && pathname === '/files') return createFile(request, response);
  if (request.method !== 'GET') return answer(response, 405);
  if (guid) return waitForChecks(guid, response);
  if (module) return serveSdk(module, response);
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
    answer(response, 500, { message: 'The server could not do this. Try again.' });
  });
});
server.listen(Number(PORT), '127.0.0.1', () => {
  console.log(`Open http://localhost:${(server.address() as AddressInfo).port}`);
});
