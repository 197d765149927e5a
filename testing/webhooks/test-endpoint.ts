import { once } from 'node:events';
import * as http from 'node:http';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { pipeline, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { after } from 'node:test';
import { TLSSocket } from 'node:tls';
import { PATIENCE_MS } from '../app/patience.ts';

const MAX_RECEIVED = 10_000;
/** More than a careful client reads: a client that reads all of it is cut off, and its test ends. */
const ENDLESS_CEILING_BYTES = 64 * 1024 * 1024;
const ENDLESS_CHUNK = Buffer.alloc(64 * 1024, 'e');

export type Answer = { status?: number; headers?: http.OutgoingHttpHeaders; body?: string | Buffer };
type Hold = { kind: 'hold'; released: Promise<Answer>; release(answer?: Answer): void };
type Drip = { kind: 'drip'; open(response: http.ServerResponse): void; next(): boolean };

/** `hold()` and `drip()` create the two behaviours that a test controls during a request. */
export type Behaviour =
  | ({ kind: 'answer' } & Answer)
  | Hold
  | Drip
  | { kind: 'hang' | 'reset' | 'resetMidResponse' | 'endless' }
  | { kind: 'hugeHeaders'; bytes: number }
  | { kind: 'redirect'; location: string; status?: number }
  | { kind: 'garbage'; bytes?: string | Buffer }
  | { kind: 'flood'; start: string; repeated: string };

type ReceivedRequest = {
  method: string;
  path: string;
  headers: http.IncomingHttpHeaders;
  body: Buffer;
  /** Resolves when the connection that carried the request is gone. */
  connectionClosed: Promise<void>;
};
type BehaviourOfRequest = (nth: number, request: ReceivedRequest) => Behaviour;
type Connection = { raw: Socket; closed: Promise<void> };
type Waiter = { count: number; resolve(): void; giveUp(): void };
type Options = { tls?: { key: string; cert: string }; maxReceived?: number };

export type TestEndpoint = {
  url: string;
  /** In the order in which the requests were complete. */
  received: readonly ReceivedRequest[];
  waitForCount(count: number, timeoutMs?: number): Promise<void>;
  /** For requests from now on; a function gets the number of the request, from 1. */
  behave(behaviour: Behaviour | BehaviourOfRequest): void;
  close(): Promise<void>;
};

/**
 * A webhook endpoint that misbehaves on demand. After its test, or after its file, it closes every connection but keeps its
 * port until the process ends: retries of its deliveries would otherwise arrive at the next endpoint with this port.
 */
export async function createTestEndpoint({
  tls,
  maxReceived = MAX_RECEIVED,
}: Options = {}): Promise<TestEndpoint> {
  const { received, add, waitForCount, closeInbox } = createInbox();
  const connections = new Map<Socket, Connection>();
  let behaviour: Behaviour | BehaviourOfRequest = { kind: 'answer' };
  let isOver = false;

  const parser = http.createServer(async (request, response) => {
    response.on('error', ignore);
    const connection = connections.get(request.socket);
    const body = await buffer(request).catch(ignore);
    // The sender gave up before its request was complete.
    if (!connection || !body) return;
    // A runaway sender fails at once instead of filling the memory of the test.
    if (received.length >= maxReceived) return void connection.raw.resetAndDestroy();
    const { method = '', url: path = '', headers } = request;
    const arrival = { method, path, headers, body, connectionClosed: connection.closed };
    const nth = add(arrival);
    perform(typeof behaviour === 'function' ? behaviour(nth, arrival) : behaviour, response, connection.raw);
  });

  // Only the sender closes idle connections: five seconds of real time may pass in a test on a busy machine.
  parser.keepAliveTimeout = 0;

  // Keeps the TCP socket: only it can be reset.
  const listener = createServer({ noDelay: true }, (raw) => {
    if (isOver) return void raw.on('error', ignore).destroy();
    const stream = tls ? new TLSSocket(raw, { ...tls, isServer: true }) : raw;
    const { promise: closed, resolve } = Promise.withResolvers<void>();
    connections.set(stream, { raw, closed });
    raw.on('error', ignore).once('close', () => {
      connections.delete(stream);
      resolve();
    });
    parser.emit('connection', stream);
  });

  function disconnect(): void {
    isOver = true;
    for (const { raw } of connections.values()) raw.destroy();
    closeInbox();
  }
  async function close(): Promise<void> {
    if (!listener.listening) return;
    const closed = once(listener, 'close');
    listener.close();
    disconnect();
    await closed;
  }
  function behave(next: Behaviour | BehaviourOfRequest): void {
    behaviour = next;
  }

  await once(listener.listen(0, '127.0.0.1'), 'listening');
  after(() => {
    listener.unref();
    disconnect();
  });
  const url = `${tls ? 'https' : 'http'}://127.0.0.1:${(listener.address() as AddressInfo).port}`;
  return { url, received, waitForCount, behave, close };
}

function createInbox() {
  const received: ReceivedRequest[] = [];
  const waiters = new Set<Waiter>();
  let open = true;

  async function waitForCount(count: number, timeoutMs = PATIENCE_MS): Promise<void> {
    if (received.length >= count) return;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const fail = (why: string) =>
      reject(new Error(`${why}: ${received.length} of ${count} requests arrived`));
    const waiter = { count, resolve, giveUp: () => fail('the receiver closed') };
    const timer = setTimeout(fail, timeoutMs, `waited ${timeoutMs} ms`);
    waiters.add(waiter);
    if (!open) waiter.giveUp();
    await promise.finally(() => {
      clearTimeout(timer);
      waiters.delete(waiter);
    });
  }

  return {
    received,
    waitForCount,
    add(arrival: ReceivedRequest): number {
      received.push(arrival);
      for (const waiter of waiters) if (received.length >= waiter.count) waiter.resolve();
      return received.length;
    },
    closeInbox(): void {
      open = false;
      for (const waiter of waiters) waiter.giveUp();
    },
  };
}

/** An address on which nothing listens: the port of an open client connection, which no other process can be given. */
export async function refusing(): Promise<string> {
  const listener = createServer((socket) => socket.on('error', ignore).unref()).unref();
  await once(listener.listen(0, '127.0.0.1'), 'listening');
  const client = connect((listener.address() as AddressInfo).port, '127.0.0.1').on('error', ignore);
  await once(client, 'connect');
  client.unref();
  return `http://127.0.0.1:${client.localPort}`;
}

/** Holds all responses until `release` is called. */
export function hold(): Hold {
  const { promise, resolve } = Promise.withResolvers<Answer>();
  return { kind: 'hold', released: promise, release: (answer = {}) => resolve(answer) };
}

/** Sends the headers at once and one byte of the body per `next()`, which returns whether more is left. */
export function drip(body: string | Buffer): Drip {
  const bytes = Buffer.from(body);
  const open = new Set<http.ServerResponse>();
  let dripped = 0;
  function send(response: http.ServerResponse, from: number): void {
    response.write(bytes.subarray(from, dripped));
    if (dripped === bytes.length) response.end();
  }
  return {
    kind: 'drip',
    open(response) {
      response.writeHead(200, { 'content-length': bytes.length }).flushHeaders();
      open.add(response);
      response.once('close', () => open.delete(response));
      send(response, 0);
    },
    next() {
      if (dripped === bytes.length) return false;
      dripped += 1;
      for (const response of open) send(response, dripped - 1);
      return dripped < bytes.length;
    },
  };
}

function perform(behaviour: Behaviour, response: http.ServerResponse, raw: Socket): void {
  switch (behaviour.kind) {
    case 'answer':
      answer(response, behaviour);
      break;
    case 'hold':
      void behaviour.released.then((late) => answer(response, late));
      break;
    case 'drip':
      behaviour.open(response);
      break;
    case 'hang':
      break;
    case 'reset':
      raw.resetAndDestroy();
      break;
    case 'resetMidResponse':
      response.writeHead(200, { 'content-length': 1_000 });
      response.write('the first part', () => raw.resetAndDestroy());
      break;
    case 'endless':
      // The peer leaving is the expected end.
      pipeline(Readable.from(endlessChunks()), response, ignore);
      break;
    case 'hugeHeaders':
      answer(response, { headers: { 'x-padding': 'x'.repeat(behaviour.bytes) } });
      break;
    case 'redirect':
      answer(response, { status: behaviour.status ?? 302, headers: { location: behaviour.location } });
      break;
    case 'flood':
      pipeline(Readable.from(floodOf(behaviour.start, behaviour.repeated)), raw, ignore);
      break;
    case 'garbage':
      response.socket?.end(behaviour.bytes ?? 'this is not HTTP\r\n\r\n');
      break;
  }
}

function answer(response: http.ServerResponse, { status, headers = {}, body }: Answer): void {
  response.writeHead(status ?? (body === undefined ? 204 : 200), headers).end(body);
}

function* endlessChunks(): Generator<Buffer> {
  for (let sent = 0; sent < ENDLESS_CEILING_BYTES; sent += ENDLESS_CHUNK.length) yield ENDLESS_CHUNK;
  throw new Error('the endless body was never stopped');
}

function* floodOf(start: string, repeated: string): Generator<string> {
  yield start;
  const chunk = repeated.repeat(Math.ceil(ENDLESS_CHUNK.length / repeated.length));
  for (let sent = 0; sent < ENDLESS_CEILING_BYTES; sent += chunk.length) yield chunk;
  throw new Error('the flood was never stopped');
}

function ignore(): void {}
