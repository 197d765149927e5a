import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { after } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { createBodyBudget } from '../../server/infrastructure/http/bodies/budget/body-budget.ts';
import { createRequestSourceAddress } from '../../server/infrastructure/http/requests/source-address.ts';
import { createHttpServer, type HttpServer } from '../../server/infrastructure/http/server.ts';
import { createGuids } from '../../server/infrastructure/runtime/guid.ts';
import { createLog } from '../../server/infrastructure/runtime/log.ts';
import { createMetrics } from '../../server/infrastructure/runtime/metrics.ts';
import { createFakeClock } from './fake-clock.ts';
import { PATIENCE_MS } from './patience.ts';

export const BODY_BUDGET_BYTES = 64 * 1024 ** 2;

/** The HTTP server without the service, with routes of the test. */
export function createBareServer({
  baseUrl = 'http://localhost:4000',
  maxBodyBytes = BODY_BUDGET_BYTES,
  trustedProxies = [],
}: {
  baseUrl?: string;
  maxBodyBytes?: number;
  trustedProxies?: readonly string[];
} = {}) {
  const logged: string[] = [];
  const destination = { write: (line: string) => void logged.push(line) };
  const bodyBudget = createBodyBudget({ maxBytes: maxBodyBytes });
  const server = createHttpServer({
    baseUrl,
    guids: createGuids({ clock: createFakeClock(), randomBytes }),
    log: createLog({ level: 'debug', terminal: false, destination }),
    metrics: createMetrics(),
    bodyBudget,
    sourceAddress: createRequestSourceAddress(trustedProxies),
  });
  after(() => server.close());
  return { server, logged, bodyBudget };
}

export async function listenAnywhere(server: HttpServer): Promise<number> {
  await server.listen({ port: 0, host: '127.0.0.1' });
  return (server.server.address() as AddressInfo).port;
}

/** Sends raw bytes and reads the response until the server closes the connection. */
export async function exchange(port: number, sent: string) {
  const socket = connect(port, '127.0.0.1');
  socket.setEncoding('utf8');
  let received = '';
  socket.on('data', (chunk) => {
    received += chunk;
  });
  socket.end(sent);
  await once(socket, 'close');
  const [head = '', text = ''] = received.split('\r\n\r\n');
  const [statusLine = '', ...lines] = head.split('\r\n');
  const headers = lines.map((line) => line.toLowerCase().split(': ') as [string, string]);
  return { status: Number(statusLine.split(' ')[1]), headers: Object.fromEntries(headers), text };
}

/** Sends the head of a JSON POST and a part of its body; the rest is up to the test. */
export function beginPost(
  port: number,
  path: string,
  headers: Record<string, string | number>,
  sent: string,
) {
  const socket = connect(port, '127.0.0.1').setEncoding('utf8');
  let received = '';
  socket.on('data', (text) => {
    received += text;
  });
  // Writing to a rejected request may fail.
  socket.on('error', () => {});
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  const fields = Object.entries({ host: 'x', 'content-type': 'application/json', ...headers });
  const lines = fields.map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`POST ${path} HTTP/1.1\r\n${lines.join('')}\r\n${sent}`);
  return { socket, closed, received: () => received };
}

/** Polls in turns of the event loop, without sleeping. */
export async function untilTrue(condition: () => boolean): Promise<void> {
  const signal = AbortSignal.timeout(PATIENCE_MS);
  while (!condition()) await setImmediate(undefined, { signal });
}
