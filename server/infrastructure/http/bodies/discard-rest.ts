import type { FastifyRequest } from 'fastify';
import type { Timers } from '../../runtime/clock.ts';
import { startReading } from './read-body.ts';

const DISCARD_MS = 10_000;

/**
 * Reads and discards the rest of a body after its response, for a limited time. If the connection were closed at once, a
 * client that is still sending would get a reset, and might not read the response.
 */
export function discardRest(request: FastifyRequest, timers: Timers): void {
  const { raw } = request;
  const { socket } = raw;
  // An injected request has no real socket.
  if (raw.complete || !socket?.destroySoon) return;
  const cancel = timers.after(DISCARD_MS, () => socket.destroy());
  socket.once('close', cancel);
  raw.once('end', cancel);
  startReading(request);
  raw.resume();
}
