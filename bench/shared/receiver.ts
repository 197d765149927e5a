import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/**
 * Child process of the benchmarks: endpoints that answer at once (`/`), record when each event arrived (`/timed`), take
 * 50 ms (`/slow`), never answer (`/hang`) or answer 503 until they recover (`/sick`). The first event of a subscription
 * activates it and is always answered.
 */
export type ReceiverMessage = 'take arrivals' | 'fail' | 'recover' | 'hold' | 'release';
/** By the guid of the event's object, on the machine's monotonic clock. */
export type Arrivals = [objectGuid: string, nanoseconds: string][];

const SLOW_MS = 50;
const FIRST_EVENT = '"subscription.storing"';
const OBJECT_GUID = '"object_guid":"';
/** A status and a short body, like most receivers. */
const ANSWER = '{"received":true}';

let arrivals: Arrivals = [];
let received = 0;
let sickStatus = 503;
/** Responses of `/slow` while it is on hold. */
let held: ServerResponse[] | undefined;

const server = createServer((request, response) => {
  if (request.method === 'GET') return void response.end(String(received));
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const [first] = chunks;
    received += 1;
    if (first?.includes(FIRST_EVENT)) answer(response, 200);
    else respond(request.url ?? '/', first, response);
  });
});

function respond(path: string, body: Buffer | undefined, response: ServerResponse): void {
  if (path === '/hang') return;
  if (path === '/slow') {
    if (held) held.push(response);
    else void delay(SLOW_MS).then(() => answer(response, 200));
    return;
  }
  if (path === '/timed' && body) {
    const start = body.indexOf(OBJECT_GUID) + OBJECT_GUID.length;
    arrivals.push([body.toString('latin1', start, start + 32), String(process.hrtime.bigint())]);
  }
  answer(response, path === '/sick' ? sickStatus : 200);
}

function answer(response: ServerResponse, status: number): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(ANSWER);
}

process.on('message', (message: ReceiverMessage) => {
  if (message === 'fail') sickStatus = 503;
  if (message === 'recover') sickStatus = 200;
  if (message === 'hold') held = [];
  if (message === 'release') {
    for (const response of held ?? []) answer(response, 200);
    held = undefined;
  }
  process.send?.(arrivals);
  if (message === 'take arrivals') arrivals = [];
});
process.on('disconnect', () => process.exit());

server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
