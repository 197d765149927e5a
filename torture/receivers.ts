import { createHmac, hash, timingSafeEqual } from 'node:crypto';
import { openSync, writeSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';

/**
 * Child process: the endpoints of all Organizations, by path. Each request is verified and written to a log before it
 * is answered, so that a 2xx without a line in the log is impossible.
 */
export type Endpoint = { path: string; organizationGuid: string; signingKey: string; behaviour: Behaviour };
/** `slow` takes up to 300 ms, `flaky` answers 500 to one in ten requests. */
export type Behaviour = 'fast' | 'slow' | 'flaky';
export type EventBody = {
  guid: string;
  organization_guid: string;
  bank_guid?: string;
  event_type: string;
  object_guid: string;
  environment: string;
};
export type Arrival = {
  at: number;
  path: string;
  status: number;
  isGenuine: boolean;
  /** Of the body as it arrived: `event` no longer has its spaces and escapes. */
  sha256: string;
  event: EventBody;
};

const [logFile = ''] = process.argv.slice(2);
const REPORT_EVERY_MS = 1_000;
const SLOW_MS = 300;
const FLAKY_FAILS = 0.1;

if (process.send) serve();

function serve(): void {
  const log = openSync(logFile, 'a');
  let endpoints = new Map<string, Endpoint>();
  let arrivals = 0;
  const server = createServer(async (request, response) => {
    const endpoint = endpoints.get(request.url ?? '');
    const body = await buffer(request);
    const isGenuine = endpoint !== undefined && verify(request, body, endpoint.signingKey);
    const status = statusOf(endpoint, isGenuine);
    const event = JSON.parse(body.toString()) as EventBody;
    const arrival: Arrival = {
      ...{ at: Date.now(), path: request.url ?? '', status, isGenuine },
      ...{ sha256: hash('sha256', body), event },
    };
    writeSync(log, `${JSON.stringify(arrival)}\n`);
    arrivals += 1;
    if (endpoint?.behaviour === 'slow') await delay(Math.random() * SLOW_MS);
    response.writeHead(status).end();
  });
  // The senders close first, so that no request meets a closing connection.
  server.keepAliveTimeout = 120_000;
  server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));
  setInterval(() => process.send?.({ arrivals }), REPORT_EVERY_MS).unref();
  process.on('message', (listed: Endpoint[]) => {
    endpoints = new Map(listed.map((endpoint) => [endpoint.path, endpoint]));
  });
  process.on('disconnect', () => process.exit());
  // Ctrl-C reaches this process as well; it ends when its parent disconnects.
  process.on('SIGINT', () => undefined);
}

function statusOf(endpoint: Endpoint | undefined, isGenuine: boolean): number {
  if (!endpoint) return 404;
  if (!isGenuine) return 401;
  return endpoint.behaviour === 'flaky' && Math.random() < FLAKY_FAILS ? 500 : 204;
}

function verify({ headers }: IncomingMessage, body: Buffer, key: string): boolean {
  const expected = createHmac('sha256', key).update(body).digest();
  const given = Buffer.from(String(headers['x-service-signature'] ?? ''), 'hex');
  return given.length === expected.length && timingSafeEqual(given, expected);
}
