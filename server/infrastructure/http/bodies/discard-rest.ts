import type { FastifyReply, FastifyRequest } from 'fastify';
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

/**
 * Lets Node read and discard the rest of a body after its response, also if the client announced the end of the
 * connection, which is closed then. `limitBodyTime` limits the time.
 */
export function keepForRest({ raw }: FastifyRequest, reply: FastifyReply): void {
  if (!raw.socket?.destroySoon) return;
  // Fastify sets it when a body is refused.
  reply.removeHeader('connection');
  if (reply.raw.shouldKeepAlive) return;
  reply.raw.shouldKeepAlive = true;
  const closeAtEnd = () => {
    if (reply.raw.writableFinished && raw.readableEnded) raw.socket.destroySoon();
  };
  reply.raw.once('finish', closeAtEnd);
  raw.once('end', closeAtEnd);
}
