import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * Runs as a child of the benchmark: answers every POST at once and remembers when each event arrived, on the clock that
 * all processes of a machine share.
 */
export type Arrivals = { at: [guid: string, nanoseconds: string][] };

let at = new Map<string, bigint>();
/** What `/sick` answers, until it is told to recover. */
let sickStatus = 503;
const FIRST_EVENT = '"subscription.storing"';
const GUID_START = '{"guid":"'.length;
/** As most receivers answer: a status and a few words, which a sender has to read. */
const ANSWER = '{"received":true}';

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const [first] = chunks;
    if (first && request.url === '/timed')
      at.set(first.toString('latin1', GUID_START, GUID_START + 32), process.hrtime.bigint());
    // Its first event activates a subscription; the sick ones fail from the second on.
    const isFirst = first?.includes(FIRST_EVENT);
    if (request.url === '/hang' && !isFirst) return;
    const status = request.url === '/sick' && !isFirst ? sickStatus : 200;
    response.writeHead(status, { 'content-type': 'application/json' }).end(ANSWER);
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));

/** Any message asks what has arrived since the last one, `recover` also lets `/sick` answer well. */
process.on('message', (message) => {
  if (message === 'recover') sickStatus = 200;
  process.send?.({ at: [...at].map(([guid, moment]) => [guid, String(moment)]) } satisfies Arrivals);
  at = new Map();
});
process.on('disconnect', () => process.exit());
