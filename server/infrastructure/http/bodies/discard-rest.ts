import type { FastifyRequest } from 'fastify';
import type { Timers } from '../../runtime/clock.ts';
import { startReading } from './read-body.ts';

/**
 * Reads and discards the rest of a body after its response, for `limitMs`. If the connection were closed at once, a client
 * that is still sending would get a reset, and might not read the response.
 */
export function discardRest(request: FastifyRequest, timers: Timers, limitMs: number): void {
  const { raw } = request;
  const { socket } = raw;
  // An injected request has no real socket.
  if (raw.complete || !socket?.destroySoon) return;
  const cancel = timers.after(limitMs, () => socket.destroy());
  socket.once('close', cancel);
  raw.once('end', cancel);
  startReading(request);
  raw.resume();
}
