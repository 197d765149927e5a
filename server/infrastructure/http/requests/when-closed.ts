import type { FastifyReply } from 'fastify';

/**
 * Runs the action when the response was sent or its connection closed. At once if that has happened while an earlier
 * hook waited: the event does not come again.
 */
export function whenClosed({ raw }: FastifyReply, action: () => void): void {
  if (raw.destroyed) action();
  else raw.once('close', action);
}
