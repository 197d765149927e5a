import type { Socket } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { whenClosed } from '../requests/when-closed.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /** Connections whose present request may take longer than the request timeout, which Node has for a server only. */
    unlimitedBodies: WeakSet<Socket>;
  }
}

/** For a route that limits its body by progress. */
export function liftRequestTimeout({ server, raw }: FastifyRequest, reply: FastifyReply): void {
  const { socket } = raw;
  // Of silence; an injected request has no real socket.
  socket.setTimeout?.(0);
  server.unlimitedBodies.add(socket);
  whenClosed(reply, () => server.unlimitedBodies.delete(socket));
}
