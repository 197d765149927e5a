import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * Child process of the benchmark: answers every POST at once and records when each event arrived, on the machine's
 * monotonic clock.
 */
export type Arrivals = { at: [guid: string, nanoseconds: string][] };

let at = new Map<string, bigint>();
/** The status of `/sick` until it recovers. */
let sickStatus = 503;
const FIRST_EVENT = '"subscription.storing"';
const GUID_START = '{"guid":"'.length;
/** A status and a short body, like most receivers. */
const ANSWER = '{"received":true}';

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const [first] = chunks;
    if (first && request.url === '/timed')
      at.set(first.toString('latin1', GUID_START, GUID_START + 32), process.hrtime.bigint());
    // The first event activates a subscription; the failing endpoints fail from the second on.
    const isFirst = first?.includes(FIRST_EVENT);
    if (request.url === '/hang' && !isFirst) return;
    const status = request.url === '/sick' && !isFirst ? sickStatus : 200;
    response.writeHead(status, { 'content-type': 'application/json' }).end(ANSWER);
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));

/** Any message requests the arrivals since the last one; `recover` also lets `/sick` succeed. */
process.on('message', (message) => {
  if (message === 'recover') sickStatus = 200;
  process.send?.({ at: [...at].map(([guid, moment]) => [guid, String(moment)]) } satisfies Arrivals);
  at = new Map();
});
process.on('disconnect', () => process.exit());
