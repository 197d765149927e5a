import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { after } from 'node:test';
import { createBodyBudget } from '../server/infrastructure/http/bodies/body-budget.ts';
import { createRequestSourceAddress } from '../server/infrastructure/http/requests/source-address.ts';
import { createHttpServer, type HttpServer } from '../server/infrastructure/http/server.ts';
import { createGuids } from '../server/infrastructure/runtime/guid.ts';
import { createLog } from '../server/infrastructure/runtime/log.ts';
import { createMetrics } from '../server/infrastructure/runtime/metrics.ts';
import { createFakeClock } from './fake-clock.ts';

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
