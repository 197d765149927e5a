import { createServer, type RequestListener, type Server, type ServerOptions } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Requests of one connection without a complete response. A client that waits for responses has one; Node would read
 * and process as many as fit into megabytes in one turn of the event loop.
 */
export const MAX_UNANSWERED_REQUESTS = 16;

type Timeouts = Pick<Server, 'keepAliveTimeout' | 'requestTimeout' | 'timeout'>;

/** Counts the requests of each connection, and closes a connection that exceeds the limit. */
export function createPipeliningLimit() {
  const unanswered = new WeakMap<Socket, number>();

  function limited(serve: RequestListener): RequestListener {
    return (request, response) => {
      const { socket } = request;
      if (socket.destroyed) return;
      const count = (unanswered.get(socket) ?? 0) + 1;
      if (count > MAX_UNANSWERED_REQUESTS) {
        socket.destroy();
        return;
      }
      unanswered.set(socket, count);
      response.once('close', () => unanswered.set(socket, (unanswered.get(socket) ?? 1) - 1));
      serve(request, response);
    };
  }

  return {
    limited,
    createServer(serve: RequestListener, options: ServerOptions, timeouts: Timeouts): Server {
      return Object.assign(createServer(options, limited(serve)), timeouts);
    },
  };
}
