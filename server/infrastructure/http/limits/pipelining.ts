import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerOptions,
} from 'node:http';
import type { Socket } from 'node:net';

/**
 * Requests of one connection without a complete response. A client that waits for responses has one; Node would read
 * and process as many as fit into megabytes in one turn of the event loop.
 */
export const MAX_UNANSWERED_REQUESTS = 16;

type Timeouts = Pick<Server, 'keepAliveTimeout' | 'requestTimeout' | 'timeout'>;

/** The exchanges of one connection. */
type Exchanges = {
  unanswered: number;
  /** Bytes of responses when the oldest unanswered request arrived. */
  writtenBefore: number;
  /** A request with a response, whose body was still arriving then. */
  arriving: IncomingMessage | undefined;
};

/** Counts the requests of each connection, and closes a connection that exceeds the limit. */
export function createPipeliningLimit() {
  const connections = new WeakMap<Socket, Exchanges>();

  function limited(serve: RequestListener): RequestListener {
    return (request, response) => {
      const { socket } = request;
      if (socket.destroyed) return;
      const exchanges = connections.get(socket) ?? { unanswered: 0, writtenBefore: 0, arriving: undefined };
      if (exchanges.unanswered === MAX_UNANSWERED_REQUESTS) {
        socket.destroy();
        return;
      }
      if (exchanges.unanswered === 0) exchanges.writtenBefore = socket.bytesWritten;
      exchanges.unanswered += 1;
      connections.set(socket, exchanges);
      response.once('close', () => {
        exchanges.unanswered -= 1;
        exchanges.arriving = request.complete ? undefined : request;
      });
      serve(request, response);
    };
  }

  return {
    limited,

    /** Whether an error can be sent: between two exchanges, or instead of a response that has not begun. */
    canSendError(socket: Socket): boolean {
      const exchanges = connections.get(socket);
      if (!exchanges) return true;
      const { unanswered, writtenBefore, arriving } = exchanges;
      return unanswered === 0 ? (arriving?.complete ?? true) : socket.bytesWritten === writtenBefore;
    },

    createServer(serve: RequestListener, options: ServerOptions, timeouts: Timeouts): Server {
      return Object.assign(createServer(options, limited(serve)), timeouts);
    },
  };
}
