import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Below the ephemeral ports: an outgoing connection could take such a port between two starts, even the one of the
 * readiness check. Above 10080, which browsers refuse.
 */
const FIRST_PORT = 11_000;
const END_PORT = 32_000;
const BLOCK_PORTS = 1_000;
const VARIABLE = 'PORTICO_TEST_PORT_BLOCK';

/** The ports that this process may give to services: those of its run, or all. */
export function servicePorts(): [first: number, end: number] {
  const reserved = Number(process.env[VARIABLE] ?? 0);
  return reserved > 0 ? [reserved + 1, reserved + BLOCK_PORTS] : [FIRST_PORT, END_PORT];
}

/**
 * Reserves ports for this process and its children by listening on the first one of a block. A concurrent run on the
 * machine could otherwise take a port between its choice and the start of its service.
 */
export async function reservePortBlock(): Promise<() => void> {
  for (let first = FIRST_PORT; first < END_PORT; first += BLOCK_PORTS) {
    const server = createServer().listen(first, '127.0.0.1').unref();
    const isFree = await once(server, 'listening').catch(() => undefined);
    if (!isFree) continue;
    process.env[VARIABLE] = String(first);
    return () => server.close();
  }
  return () => undefined;
}
