import { get, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after } from 'node:test';
import type { TestApp } from '../app/app.ts';
import { metricOf, until } from './webhooks.ts';

/** Attempts are published a few times a second, so the stream has them by then. */
export const TOLD_AFTER_MS = 1_000;

type Message = Record<string, unknown>;

/** A live stream over a real connection, read like a browser does. */
export type Live = {
  response: IncomingMessage;
  attempts: Message[];
  /** How many were dropped so far. */
  dropped(): number;
  /** Keep-alive lines. */
  heartbeats(): number;
  /** How it ended: closed by the server, or by a broken connection. */
  ended: Promise<'ended' | 'broken'>;
  close(): void;
};

export async function openLive(app: TestApp, token: string, query = ''): Promise<Live> {
  if (!app.server.server.listening) await app.server.listen({ port: 0, host: '127.0.0.1' });
  const { port } = app.server.server.address() as AddressInfo;
  const path = `/api/subscription_deliveries/live${query}`;
  const request = get({ port, path, host: '127.0.0.1', headers: { authorization: `Bearer ${token}` } });
  request.on('error', () => undefined);
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    request.once('response', resolve).once('error', reject);
  });
  after(() => request.destroy());
  return { response, ...read(response), close: () => request.destroy() };
}

function read(response: IncomingMessage) {
  const attempts: Message[] = [];
  let dropped = 0;
  let heartbeats = 0;
  let rest = '';
  response.setEncoding('utf8').on('data', (chunk: string) => {
    const blocks = (rest + chunk).split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const data = /^data: (.*)$/m.exec(block)?.[1];
      if (block.startsWith(':')) heartbeats += 1;
      else if (data !== undefined && block.startsWith('event: dropped')) dropped += JSON.parse(data).dropped;
      else if (data !== undefined) attempts.push(JSON.parse(data));
    }
  });
  const ended = new Promise<'ended' | 'broken'>((resolve) => {
    response.once('end', () => resolve('ended')).once('error', () => resolve('broken'));
  });
  return { attempts, dropped: () => dropped, heartbeats: () => heartbeats, ended };
}

/** Waits until this process knows that this many Organizations have a live stream, on any node. */
export function untilWatched(app: TestApp, count = 1): Promise<void> {
  return until(async () => (await metricOf(app, 'portico_live_watched')) === count, `${count} watched`);
}

/** Waits until this process has this many streams. */
export function untilViewers(app: TestApp, count: number): Promise<void> {
  return until(async () => (await metricOf(app, 'portico_live_viewers')) === count, `${count} viewers`);
}
