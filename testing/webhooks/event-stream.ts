import assert from 'node:assert/strict';
import { get, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { after } from 'node:test';
import type { TestApp } from '../app/app.ts';
import { until } from './webhooks.ts';

type Streamed = Record<string, unknown> & { guid: string; event_type: string };

type Options = { query?: string; lastEventId?: string | undefined };
type End = 'ended' | 'broken';

const POLL_EVERY_MS = 250;

/** An event stream over a real connection. */
export async function openEventStream(
  app: TestApp,
  token: string,
  { query = '', lastEventId }: Options = {},
) {
  if (!app.server.server.listening) await app.server.listen({ port: 0, host: '127.0.0.1' });
  const { port } = app.server.server.address() as AddressInfo;
  const request = get({
    ...{ port, host: '127.0.0.1', path: `/api/subscription_events/stream${query}` },
    headers: {
      authorization: `Bearer ${token}`,
      ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
    },
  });
  request.on('error', () => undefined);
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    request.once('response', resolve).once('error', reject);
  });
  after(() => request.destroy());
  if (response.statusCode !== 200) assert.fail(`${response.statusCode} ${await text(response)}`);
  const events: Streamed[] = [];
  const ids: string[] = [];
  let heartbeats = 0;
  let rest = '';
  response.setEncoding('utf8').on('data', (chunk: string) => {
    const blocks = (rest + chunk).split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const [data, id] = [/^data: (.*)$/m.exec(block)?.[1], /^id: (.*)$/m.exec(block)?.[1]];
      if (/^:/m.test(block)) heartbeats += 1;
      if (data !== undefined) events.push(JSON.parse(data));
      if (id !== undefined) ids.push(id);
    }
  });
  let end: End | undefined;
  const ended = new Promise<End>((resolve) => {
    response.once('end', () => resolve('ended')).once('error', () => resolve('broken'));
  }).then((how) => {
    end = how;
    return how;
  });

  /**
   * Lets the service poll until the condition holds. After the first poll, time passes as fast as in reality: while a
   * slow database answers, tokens must not expire and events must not become old.
   */
  async function pollUntil(condition: () => boolean, what: string): Promise<void> {
    let nextPollAt = 0;
    await until(() => {
      if (condition()) return true;
      if (performance.now() >= nextPollAt) {
        app.clock.advance(POLL_EVERY_MS);
        nextPollAt = performance.now() + POLL_EVERY_MS;
      }
      return condition();
    }, what);
  }

  return {
    ...{ response, events, ended },
    guids: () => events.map(({ guid }) => guid),
    heartbeats: () => heartbeats,
    /** Of the last message, also of one without data. */
    lastEventId: () => ids.at(-1),
    /** The ids, one for each message. */
    ids,
    pollUntil,
    untilEvents: (count: number) => pollUntil(() => events.length >= count, `${count} events`),
    /** How the stream ended. */
    async untilEnded(): Promise<End> {
      await pollUntil(() => end !== undefined, 'the end of the stream');
      return ended;
    },
    close: () => request.destroy(),
  };
}
